//! Pure, bit-reproducible estimators used while measuring and after.
//!
//! Plain slices go in, small structs come out. Nothing here reads a clock, a
//! file or an unseeded random number; roots and logarithms come from `libm`
//! and sums run in a fixed order, so the same input gives the same bits on
//! every libc and architecture.
//!
//! Two conventions hold throughout:
//!
//! * A measured value is finite. A slice that holds a NaN or an infinity is
//!   refused (`None`, or a typed error), never silently cleaned.
//! * `None` means "there is no such estimate", never zero.
#![forbid(unsafe_code)]

pub mod burst;
pub mod classes;
pub mod edges;
pub mod histogram;
pub mod interval;
pub mod isotonic;
pub mod kendall;
pub mod knee;
pub mod kruskal;
pub mod little;
pub mod moments;
pub mod outlier;
pub mod rank;
pub mod rfo;
pub mod rng;
pub mod series;
pub mod spaced;

pub use burst::{BurstFit, fit_bursts};
pub use classes::{Classes, flipped, split_classes};
pub use edges::{Edge, edges};
pub use histogram::{Histogram, Percentiles};
pub use interval::{Interval, LOOKS, Look, look, next_look, order_interval};
pub use isotonic::isotonic;
pub use kendall::tau_b;
pub use knee::{Curve, Knee, LoadPoint, analyze_curve};
pub use kruskal::{chi_square_quantile, kruskal_wallis};
pub use little::lines_in_flight;
pub use outlier::{Bin, bins, low_fence};
pub use rank::{mad, median, quantile};
pub use rfo::{Factor, rfo_factor};
pub use rng::Rng;
pub use series::{effective_n, lag1_autocorrelation, settled};
pub use spaced::spaced_delays;
