//! The guests: what each is made of, and so what must be found in it.

/// A machine layout under QEMU.
pub struct Guest {
    pub name: &'static str,
    pub about: &'static str,
    /// QEMU's `-smp`.
    smp: &'static str,
    pub nodes: &'static [Node],
    /// From, to, SLIT value; both directions.
    distances: &'static [(u32, u32, u32)],
}

/// A NUMA node of a guest.
pub struct Node {
    pub id: u32,
    /// First and last CPU.
    cpus: Option<(u32, u32)>,
    pub mib: u32,
}

const fn node(id: u32, cpus: Option<(u32, u32)>, mib: u32) -> Node {
    Node { id, cpus, mib }
}

/// Small on purpose: under emulation, spinning threads beyond the host's CPUs crawl.
pub const ALL: &[Guest] = &[
    Guest {
        name: "2s",
        about: "2 sockets × 2 cores × 2 threads, 2 nodes",
        smp: "8,sockets=2,cores=2,threads=2",
        nodes: &[node(0, Some((0, 3)), 1024), node(1, Some((4, 7)), 1024)],
        distances: &[(0, 1, 21)],
    },
    Guest {
        name: "cxl",
        about: "2 sockets × 2 cores, node 2 has memory and no CPUs",
        smp: "4,sockets=2,cores=2,threads=1",
        nodes: &[node(0, Some((0, 1)), 1024), node(1, Some((2, 3)), 1024), node(2, None, 1024)],
        distances: &[(0, 1, 21), (0, 2, 26), (1, 2, 36)],
    },
    Guest {
        name: "memless",
        about: "3 sockets × 2 cores, node 2 has CPUs and no memory",
        smp: "6,sockets=3,cores=2,threads=1",
        nodes: &[node(0, Some((0, 1)), 1024), node(1, Some((2, 3)), 1024), node(2, Some((4, 5)), 0)],
        distances: &[(0, 1, 21), (0, 2, 21), (1, 2, 21)],
    },
];

impl Guest {
    /// Nodes with CPUs: the rows of a matrix.
    pub fn rows(&self) -> Vec<u32> {
        let with_cpus = self.nodes.iter().filter(|node| node.cpus.is_some());
        with_cpus.map(|node| node.id).collect()
    }

    /// Nodes with memory: the columns of a matrix.
    pub fn columns(&self) -> Vec<u32> {
        let with_memory = self.nodes.iter().filter(|node| node.mib > 0);
        with_memory.map(|node| node.id).collect()
    }

    /// The node's own CPUs, else those of the nearest node that has some.
    pub fn local_cpus(&self, node: &Node) -> Vec<u32> {
        let distance = |other: &Node| {
            let pair = |&&(a, b, _): &&(u32, u32, u32)| (a, b) == (node.id, other.id) || (b, a) == (node.id, other.id);
            if node.id == other.id { Some(0) } else { self.distances.iter().find(pair).map(|row| row.2) }
        };
        let with_cpus = self.nodes.iter().filter(|other| other.cpus.is_some());
        let nearest = with_cpus.min_by_key(|other| distance(other).unwrap_or(u32::MAX));
        nearest.map(Node::cpus).unwrap_or_default()
    }

    /// QEMU's arguments for CPUs, memory and nodes.
    pub fn qemu(&self) -> Vec<String> {
        let total: u32 = self.nodes.iter().map(|node| node.mib).sum();
        let mut args = vec!["-smp".to_owned(), self.smp.to_owned(), "-m".to_owned(), format!("{total}M")];
        for node in self.nodes {
            args.extend(node.qemu());
        }
        for (from, to, value) in self.distances {
            args.push("-numa".to_owned());
            args.push(format!("dist,src={from},dst={to},val={value}"));
        }
        args
    }
}

impl Node {
    /// Its CPUs, one by one.
    pub fn cpus(&self) -> Vec<u32> {
        self.cpus.map(|(first, last)| (first..=last).collect()).unwrap_or_default()
    }

    fn qemu(&self) -> Vec<String> {
        let mut args = Vec::new();
        let mut numa = format!("node,nodeid={}", self.id);
        if let Some((first, last)) = self.cpus {
            numa.push_str(&format!(",cpus={first}-{last}"));
        }
        if self.mib > 0 {
            args.push("-object".to_owned());
            args.push(format!("memory-backend-ram,size={}M,id=m{}", self.mib, self.id));
            numa.push_str(&format!(",memdev=m{}", self.id));
        }
        args.push("-numa".to_owned());
        args.push(numa);
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_cpus_and_columns_have_memory() {
        let shapes: Vec<_> = ALL.iter().map(|guest| (guest.name, guest.rows(), guest.columns())).collect();
        assert_eq!(
            shapes,
            [("2s", vec![0, 1], vec![0, 1]), ("cxl", vec![0, 1], vec![0, 1, 2]), ("memless", vec![0, 1, 2], vec![0, 1]),]
        );
    }

    #[test]
    fn a_node_without_memory_has_no_backend() {
        let memless = ALL[2].nodes[2].qemu();
        assert_eq!(memless, ["-numa", "node,nodeid=2,cpus=4-5"]);
        let cxl = ALL[1].nodes[2].qemu();
        assert_eq!(cxl, ["-object", "memory-backend-ram,size=1024M,id=m2", "-numa", "node,nodeid=2,memdev=m2"]);
    }
}
