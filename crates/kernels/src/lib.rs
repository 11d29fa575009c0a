//! The measured loops and clocks, each loop declaring its accounting.
//!
//! Everything here is a leaf: no dependency, no IO, no allocation inside a
//! measured loop. The public interface is safe; whatever a loop relies on
//! (alignment, bounds, CPU features) is proven where the value that carries it
//! is made, so that a [`stream::Kernel`], a [`chase::Rings`] or a
//! [`c2c::Window`] in hand can simply run.

mod arch;
pub mod c2c;
pub mod chase;
pub mod clock;
pub mod isa;
pub mod rng;
pub mod spin;
pub mod stream;
pub mod touch;

pub use clock::{Clock, Stamp};
pub use isa::Isa;
pub use rng::Rng;
