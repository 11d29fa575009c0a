//! The arguments by which QEMU makes a guest.

use super::{Guest, Node, Shape};

impl Guest {
    /// QEMU's arguments for machine, CPUs, memory and nodes.
    pub fn qemu(&self) -> Vec<String> {
        let Shape(sockets, cores, threads) = self.shape;
        let slots = sockets * cores * threads;
        let plugged = self.plugged.unwrap_or(slots);
        let mib: u32 = self.nodes.iter().filter(|node| node.device.is_none()).map(|node| node.mib).sum();
        let machine = if self.kernel.is_arm() { "virt,gic-version=3" } else { "q35" };
        let mut args = vec![
            "-M".to_owned(),
            format!("{machine}{}", self.machine),
            "-cpu".to_owned(),
            self.cpu.to_owned(),
            "-smp".to_owned(),
            format!("{plugged},maxcpus={slots},sockets={sockets},cores={cores},threads={threads}"),
            "-m".to_owned(),
            format!("{mib}M"),
        ];
        args.extend(self.nodes.iter().flat_map(Node::qemu));
        let numa = |text: String| ["-numa".to_owned(), text];
        args.extend(self.distances.iter().flat_map(|(from, to, value)| numa(format!("dist,src={from},dst={to},val={value}"))));
        for path in self.paths {
            let about = format!("hmat-lb,initiator={},target={},hierarchy=memory,data-type=access", path.from, path.to);
            args.extend(numa(format!("{about}-latency,latency={}", path.ns)));
            args.extend(numa(format!("{about}-bandwidth,bandwidth={}M", path.mib_s)));
        }
        args.extend(self.devices.iter().map(|&arg| arg.to_owned()));
        args
    }
}

impl Node {
    fn qemu(&self) -> Vec<String> {
        let mut args = Vec::new();
        if self.device.is_some() {
            return args;
        }
        let mut numa = format!("node,nodeid={}", self.id);
        if let Some((first, last)) = self.cpus {
            numa.push_str(&format!(",cpus={first}-{last}"));
        }
        if self.mib > 0 {
            args.push("-object".to_owned());
            args.push(format!("memory-backend-ram,size={}M,id=m{}", self.mib, self.id));
            numa.push_str(&format!(",memdev=m{}", self.id));
        }
        if let Some(initiator) = self.initiator {
            numa.push_str(&format!(",initiator={initiator}"));
        }
        args.extend(["-numa".to_owned(), numa]);
        args
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ALL, Guest};

    fn arguments(name: &str) -> String {
        let guest: Option<&Guest> = ALL.iter().find(|guest| guest.name == name);
        format!(" {} ", guest.expect("the guest").qemu().join(" "))
    }

    #[test]
    fn a_node_without_memory_has_no_backend_and_one_without_cpus_no_cpus() {
        let memless = arguments("memless");
        assert!(memless.contains(" -numa node,nodeid=2,cpus=4-5 "), "{memless}");
        let cxl = arguments("cxl");
        assert!(cxl.contains(" -object memory-backend-ram,size=1024M,id=m2 -numa node,nodeid=2,memdev=m2 "), "{cxl}");
        assert!(cxl.contains(" -numa dist,src=1,dst=2,val=36 ") && cxl.contains(" -m 3072M "), "{cxl}");
    }

    #[test]
    fn a_gap_is_sockets_that_hold_nothing() {
        let gap = arguments("gap");
        assert!(gap.contains(" -smp 2,maxcpus=6,sockets=3,cores=2,threads=1 "), "{gap}");
        assert!(gap.contains(" node,nodeid=1,cpus=2-5 ") && gap.contains(",nodeid=2,memdev=m2 "), "{gap}");
    }

    #[test]
    fn firmware_states_each_path() {
        let hmat = arguments("hmat");
        assert!(hmat.contains(" -M q35,hmat=on "), "{hmat}");
        assert!(hmat.contains("initiator=1,target=2,hierarchy=memory,data-type=access-latency,latency=250 "), "{hmat}");
        assert!(hmat.contains(",nodeid=2,memdev=m2,initiator=1 "), "{hmat}");
    }
}
