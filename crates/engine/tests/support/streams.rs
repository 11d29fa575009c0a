//! Threads that stream, for plans made by hand.

use memgauge_model::*;

pub fn stream(cpu: u32, arena: ArenaId, mix: Mix) -> Thread {
    let isa = if cfg!(target_arch = "x86_64") { Isa::Sse2 } else { Isa::Portable };
    let (delay, manner) = (DelayRef::Fixed(0), Manner::default());
    Thread { cpu, job: Job::Stream { arena, part: None, mix, isa, block_lines: None, delay, manner } }
}
