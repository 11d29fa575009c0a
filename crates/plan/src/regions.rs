//! How a node's memory is cut into the regions of a scan: how large they are, how many, and of which pages.
//!
//! All regions of a node are held at once: that is what makes each of them another piece of its memory.

use crate::capacity::{Limits, Load, Shortage};
use crate::checks::value;
use crate::draft::Draft;
use crate::{pages, sizes};
use memgauge_model::{Arena, Cpu, Holds, NodeId, Pages, Refusal, units};

/// Of what can be had, regions take no more than so much.
pub(crate) const PERCENT: u64 = 80;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// A region, unless something speaks against it.
const USUAL: u64 = GIB;
/// Smaller ones are made until a node has so many, as far as caches allow.
const WANTED: u64 = 16;
/// Fewer than these tell nothing of what is slow.
const FENCED: u64 = 5;
/// Larger ones are made while all nodes together have more than so many.
const PLENTY: u64 = 1024;
/// More than so many are refused: each has its mapping, its figure and its place in the document.
const MOST: u64 = 8192;
/// Regions over the last-level caches of those that read: what is left of the last pass is then the smaller part.
const CACHES: u64 = 2;
/// Not smaller than this where nobody says so, and where no cache size is known.
const FLOOR: u64 = 64 * MIB;
/// A part that a thread can stream through.
const PART: u64 = 64 << 10;

/// Who reads a node's regions.
pub(crate) struct Reader {
    pub node: NodeId,
    /// The first one leads.
    pub cpus: Vec<Cpu>,
    /// Their last-level caches and what stands before the node's memory.
    pub cache_bytes: Option<u64>,
}

/// The regions of a node.
pub(crate) struct Cut {
    pub region_bytes: u64,
    /// By region.
    pub pages: Vec<Pages>,
    /// What the node could give.
    pub available_bytes: u64,
    /// One line each.
    pub notes: Vec<String>,
}

/// Cuts the memory of each reader's node.
pub(crate) fn cut(draft: &Draft, readers: &[Reader], mixes: usize) -> Result<Vec<Cut>, Refusal> {
    let workers = readers.iter().map(|reader| reader.cpus.len()).max().unwrap_or(0) as u64;
    let limits = Limits::new(draft.site, workers).at_most(PERCENT);
    let nodes = readers.len().max(1) as u64;
    let cutter = |reader| Cutter {
        draft,
        reader,
        limits: &limits,
        share: draft.request.limit.map(|limit| limit / nodes),
        plenty: (PLENTY / nodes / mixes.max(1) as u64).max(WANTED),
        nodes,
    };
    readers.iter().map(|reader| cutter(reader).cut()).collect()
}

/// Cuts one node's memory.
struct Cutter<'a> {
    draft: &'a Draft<'a>,
    reader: &'a Reader,
    limits: &'a Limits,
    /// Bytes that may be taken of this node, where that is limited.
    share: Option<u64>,
    /// Regions that are plenty.
    plenty: u64,
    nodes: u64,
}

impl Cutter<'_> {
    fn cut(&self) -> Result<Cut, Refusal> {
        let mut notes = Vec::new();
        let region_bytes = match self.draft.request.buffer {
            Some(asked) => self.asked(asked, &mut notes)?,
            None => self.automatic(),
        };
        let pages = self.pages(region_bytes);
        if pages.is_empty() {
            return Err(self.refuse(region_bytes));
        }
        if pages.len() as u64 > MOST {
            return Err(self.refuse_many(region_bytes));
        }
        self.tell(region_bytes, pages.len() as u64, &mut notes);
        Ok(Cut { region_bytes, pages, available_bytes: self.available(), notes })
    }

    /// Whole pages of what was asked for.
    fn asked(&self, asked: u64, notes: &mut Vec<String>) -> Result<u64, Refusal> {
        let (request, threads) = (self.draft.request, self.reader.cpus.len() as u64);
        let page = self.page_bytes(self.last_kind());
        let bytes = asked.checked_next_multiple_of(page).unwrap_or(u64::MAX / page * page);
        if bytes < threads.saturating_mul(PART) {
            let problem = format!("less than 64 KiB for each of the {threads} threads that share a region");
            let remedy = format!("use {} or more, or fewer threads (--load-cpus)", sizes::rounded_up(threads * PART));
            return Err(Refusal::new("--buffer", self.typed("--buffer", asked), problem, remedy));
        }
        if bytes != asked {
            let typed = value(request, "--buffer", units::bytes(asked));
            notes.push(format!("--buffer {typed} is rounded up to {}, whole pages", units::bytes(bytes)));
        }
        Ok(bytes)
    }

    /// As large as usual, or as caches demand; larger where there would be too many, smaller where there would be too few.
    fn automatic(&self) -> u64 {
        let page = self.page_bytes(self.last_kind());
        let least = self.reader.cache_bytes.map_or(FLOOR, |cache| cache.saturating_mul(CACHES).max(FLOOR));
        let least = least.checked_next_multiple_of(page.max(MIB)).unwrap_or(u64::MAX / page * page);
        let mut bytes = least.checked_next_multiple_of(USUAL).unwrap_or(least);
        while self.count(bytes) > self.plenty {
            bytes = bytes.saturating_mul(2);
        }
        while self.count(bytes) < WANTED && bytes / 2 >= least && (bytes / 2).is_multiple_of(page) {
            bytes /= 2;
        }
        if self.count(bytes) < WANTED { least } else { bytes }
    }

    /// Pages of each region of this size that the node has room for: those of reserved pools first.
    fn pages(&self, bytes: u64) -> Vec<Pages> {
        let mut room = self.share.map_or(MOST + 1, |share| (share / bytes).min(MOST + 1));
        let (mut load, mut all) = (Load::default(), Vec::new());
        for kind in self.kinds() {
            let Some(region) = self.region(kind, bytes) else { continue };
            let more = fitting(room, |times| {
                let mut load = load.clone();
                load.add_alike(&region, times);
                self.limits.shortage(&load).is_none()
            });
            load.add_alike(&region, more);
            room -= more;
            all.extend((0..more).map(|_| kind));
        }
        all
    }

    fn count(&self, bytes: u64) -> u64 {
        self.pages(bytes).len() as u64
    }

    /// Page kinds in the order in which they are taken. What was asked for is the only one; else pools that have free pages, and
    /// then what everything else has.
    fn kinds(&self) -> Vec<Pages> {
        if let Some(pages) = self.draft.request.pages {
            return vec![pages];
        }
        let machine = self.draft.site.machine;
        let pooled = [Pages::Huge1G, Pages::Huge2M];
        let free = |kind: &Pages| pages::pool(machine, self.reader.node, self.page_bytes(*kind)).0 > 0;
        pooled.into_iter().filter(free).chain([self.draft.choices.pages]).collect()
    }

    /// The kind that sizes are whole pages of.
    fn last_kind(&self) -> Pages {
        self.draft.request.pages.unwrap_or(self.draft.choices.pages)
    }

    fn page_bytes(&self, kind: Pages) -> u64 {
        pages::page_bytes(kind, self.draft.site.machine)
    }

    /// None where the size is no whole number of such pages.
    fn region(&self, kind: Pages, bytes: u64) -> Option<Arena> {
        let page_bytes = self.page_bytes(kind);
        let holds = Holds::Region { parts: 1, bytes };
        let arena = Arena { node: self.reader.node, pages: kind, page_bytes, toucher: 0, holds, bytes, first_touch: false };
        bytes.is_multiple_of(page_bytes).then_some(arena)
    }

    /// Of ordinary memory, as far as the cgroup leaves it, and of pools.
    fn available(&self) -> u64 {
        let node = self.reader.node;
        let ordinary = self.limits.nodes.get(&node).map_or(0, |(_, all)| *all);
        let ordinary = self.limits.cgroup.map_or(ordinary, |(_, left)| ordinary.min(left));
        let pools = self.draft.site.machine.node(node).map_or(&[][..], |node| &node.huge_pages);
        pools.iter().fold(ordinary, |sum, pool| sum.saturating_add(pool.free.saturating_mul(pool.page_bytes)))
    }

    fn tell(&self, bytes: u64, count: u64, notes: &mut Vec<String>) {
        let (node, size) = (self.reader.node, units::bytes(bytes));
        if let Some(cache) = self.reader.cache_bytes.filter(|cache| bytes < cache.saturating_mul(CACHES)) {
            let where_ = if bytes <= cache { "fit in" } else { "lie in part in" };
            notes.push(format!(
                "node {node}: regions of {size} {where_} the last-level caches of their CPUs ({}): no figures of memory",
                units::bytes(cache)
            ));
        }
        if count < FENCED {
            let regions = units::count(count, "region");
            notes.push(format!("node {node}: {regions} of {size}: too few to call one of them slow, it takes {FENCED}"));
        }
    }

    /// Not one region can be had.
    fn refuse(&self, bytes: u64) -> Refusal {
        let (request, size) = (self.draft.request, units::bytes(bytes));
        if let Some(limit) = request.limit.filter(|_| self.share.is_some_and(|share| share < bytes)) {
            let each = if self.nodes > 1 { format!(" on each of {} nodes", self.nodes) } else { String::new() };
            let problem = format!("less than a region of {size}{each}");
            let remedy = format!("use {} or more, or a smaller --buffer", sizes::rounded_up(bytes.saturating_mul(self.nodes)));
            return Refusal::new("--limit", self.typed("--limit", limit), problem, remedy);
        }
        let short = |bytes: u64| {
            let region = self.region(self.last_kind(), bytes)?;
            self.limits.shortage(&Load::of([&region]))
        };
        let what = match short(bytes) {
            Some(pool @ Shortage::Pool { .. }) => return sizes::refuse_pool(self.draft, &pool),
            Some(Shortage::Other { what, .. }) => format!("{PERCENT} % of what {what}"),
            None => String::new(),
        };
        let page = self.page_bytes(self.last_kind());
        let pages = fitting(bytes / page, |pages| short(pages.saturating_mul(page)).is_none());
        let smaller = sizes::rounded_down(pages * page);
        match request.buffer {
            Some(asked) if pages > 0 => Refusal::new(
                "--buffer",
                self.typed("--buffer", asked),
                format!("more than {what}"),
                format!("use {smaller} or less"),
            ),
            Some(asked) => Refusal::new(
                "--buffer",
                self.typed("--buffer", asked),
                format!("more than {what}"),
                "free some memory, or raise the limit",
            ),
            None => {
                let problem = format!("a region of {size}, which caches can't hold, is more than {what}");
                let remedy = format!("free some memory, or use --buffer {smaller} or less (caches then hold part of it)");
                Refusal::new("", "", problem, remedy)
            }
        }
    }

    fn refuse_many(&self, bytes: u64) -> Refusal {
        let asked = self.draft.request.buffer.unwrap_or(bytes);
        let problem = format!("more than {MOST} regions");
        let limit = sizes::rounded_down(bytes.saturating_mul(MOST).saturating_mul(self.nodes));
        Refusal::new("--buffer", self.typed("--buffer", asked), problem, format!("use a larger one, or --limit {limit}"))
    }

    fn typed(&self, flag: &str, bytes: u64) -> String {
        value(self.draft.request, flag, units::bytes(bytes))
    }
}

/// The largest number up to `most` that fits; 0 fits always.
fn fitting(most: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut good, mut bad) = (0, most.saturating_add(1));
    while bad - good > 1 {
        let middle = u64::midpoint(good, bad);
        if fits(middle) { good = middle } else { bad = middle }
    }
    good
}
