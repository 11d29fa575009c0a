//! The guests: what each is made of, and so what must be found in it.

mod qemu;
mod table;

use super::checks::Check;
use super::image::Kernel;

pub use table::ALL;

/// A machine layout under QEMU.
pub struct Guest {
    pub name: &'static str,
    pub about: &'static str,
    pub kernel: Kernel,
    /// Bytes of a base page.
    pub page_bytes: u64,
    /// Sockets, cores of each, threads of each.
    pub shape: Shape,
    /// CPUs that are there, where not every socket holds some.
    plugged: Option<u32>,
    pub nodes: &'static [Node],
    /// From, to, SLIT value; both directions.
    distances: &'static [(u32, u32, u32)],
    /// What firmware states of paths (HMAT); empty where it states nothing.
    pub paths: &'static [Path],
    /// Further options of QEMU's machine.
    machine: &'static str,
    /// QEMU's name of the CPU.
    cpu: &'static str,
    /// Further arguments of QEMU.
    devices: &'static [&'static str],
    /// Does the emulator have to know CXL memory devices?
    pub cxl: bool,
    /// Further words of the kernel's command line.
    pub cmdline: &'static str,
    /// Shell that the first process runs before everything else.
    pub setup: &'static str,
    /// CPUs that are there, and offline once it has run.
    offline: &'static [u32],
    /// The CPUs and nodes that a cgroup leaves, once it has run.
    cpuset: Option<(&'static [u32], &'static [u32])>,
    pub checks: &'static [Check],
}

/// Sockets, cores of each, threads of each.
pub struct Shape(pub u32, pub u32, pub u32);

/// A NUMA node of a guest.
pub struct Node {
    pub id: u32,
    /// First and last CPU, as Linux numbers them.
    cpus: Option<(u32, u32)>,
    pub mib: u32,
    /// The node that firmware calls its nearest initiator.
    initiator: Option<u32>,
    /// Reserved pages: bytes of each, how many.
    pub pools: &'static [(u64, u64)],
    /// Made by the kernel of a device's memory: what kind that is.
    pub device: Option<&'static str>,
}

/// What firmware states of a path from a node's CPUs to a node's memory.
pub struct Path {
    pub from: u32,
    pub to: u32,
    pub ns: u32,
    /// MiB/s.
    pub mib_s: u32,
}

const fn node(id: u32, cpus: Option<(u32, u32)>, mib: u32) -> Node {
    Node { id, cpus, mib, initiator: None, pools: &[], device: None }
}

impl Guest {
    /// Nodes with CPUs that may be used: the rows of a matrix.
    pub fn rows(&self) -> Vec<u32> {
        let allowed = self.allowed_cpus();
        let with_cpus = self.nodes.iter().filter(|node| self.cpus_of(node).iter().any(|cpu| allowed.contains(cpu)));
        with_cpus.map(|node| node.id).collect()
    }

    /// Nodes with memory that may be used: the columns of a matrix.
    pub fn columns(&self) -> Vec<u32> {
        let with_memory = self.nodes.iter().filter(|node| node.mib > 0).map(|node| node.id);
        with_memory.filter(|id| self.cpuset.is_none_or(|(_, nodes)| nodes.contains(id))).collect()
    }

    /// CPUs that are there.
    pub fn present_cpus(&self) -> Vec<u32> {
        self.nodes.iter().flat_map(Node::cpus).collect()
    }

    /// CPUs that the kernel runs.
    pub fn online_cpus(&self) -> Vec<u32> {
        self.nodes.iter().flat_map(|node| self.cpus_of(node)).collect()
    }

    /// CPUs that may be used.
    pub fn allowed_cpus(&self) -> Vec<u32> {
        let mut cpus = self.online_cpus();
        cpus.retain(|cpu| self.cpuset.is_none_or(|(cpus, _)| cpus.contains(cpu)));
        cpus
    }

    /// The node's online CPUs.
    pub fn cpus_of(&self, node: &Node) -> Vec<u32> {
        node.cpus().into_iter().filter(|cpu| !self.offline.contains(cpu)).collect()
    }

    /// The number of the CPU's core: threads of a core come one after another.
    pub fn core_of(&self, cpu: u32) -> u32 {
        cpu / self.shape.2
    }

    /// The node's own CPUs, else those of the node that firmware calls its initiator, else those of the nearest nodes.
    pub fn local_cpus(&self, node: &Node) -> Vec<u32> {
        let own = self.cpus_of(node);
        if !own.is_empty() {
            return own;
        }
        let with_cpus = || self.nodes.iter().filter(|other| !self.cpus_of(other).is_empty());
        let nearest = match node.initiator {
            Some(id) => with_cpus().filter(|other| other.id == id).collect::<Vec<_>>(),
            None => {
                let least = with_cpus().map(|other| self.distance(node.id, other.id)).min();
                with_cpus().filter(|other| Some(self.distance(node.id, other.id)) == least).collect()
            }
        };
        nearest.into_iter().flat_map(|other| self.cpus_of(other)).collect()
    }

    /// The SLIT value; Linux's own where firmware states none.
    pub fn distance(&self, from: u32, to: u32) -> u32 {
        let stated = self.distances.iter().find(|(a, b, _)| (*a, *b) == (from, to) || (*a, *b) == (to, from));
        if from == to { 10 } else { stated.map_or(20, |row| row.2) }
    }
}

impl Node {
    /// Its CPUs, online or not, one by one.
    fn cpus(&self) -> Vec<u32> {
        self.cpus.map(|(first, last)| (first..=last).collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guest(name: &str) -> &'static Guest {
        ALL.iter().find(|guest| guest.name == name).expect("the guest")
    }

    #[test]
    fn rows_have_cpus_and_columns_have_memory() {
        let shape = |name| (guest(name).rows(), guest(name).columns());
        assert_eq!(shape("2s"), (vec![0, 1], vec![0, 1]));
        assert_eq!(shape("cxl"), (vec![0, 1], vec![0, 1, 2]));
        assert_eq!(shape("memless"), (vec![0, 1, 2], vec![0, 1]));
        assert_eq!(shape("gap"), (vec![0], vec![0, 2]));
        assert_eq!(shape("cgroup"), (vec![0, 1], vec![1]));
    }

    #[test]
    fn near_are_own_cpus_then_initiators_then_the_nearest() {
        let near = |name, at: usize| guest(name).local_cpus(&guest(name).nodes[at]);
        assert_eq!(near("cxl", 1), [2, 3]);
        assert_eq!(near("cxl", 2), [0, 1], "distances 26 and 36");
        assert_eq!(near("hmat", 2), [2, 3], "firmware's word against its distances");
        assert_eq!(near("offline", 0), [0, 1, 3], "an offline CPU is near nothing");
    }
}
