//! The first 8 bytes of each line.
//!
//! Register 0 carries data, 4 that of the second stream or scratch, 16 and 20 are
//! accumulators, 14 holds the written word and 15 the factor.

macro_rules! words {
    (ld, $base:expr, $off:expr) => {
        concat!("ldr d0, [", $base, ", #", $off, "]\n")
    };
    (ld_second, $base:expr, $off:expr) => {
        concat!("ldr d4, [", $base, ", #", $off, "]\n")
    };
    (st, $base:expr, $off:expr) => {
        concat!("str d0, [", $base, ", #", $off, "]\n")
    };
    // Two halves of 4 bytes; the offsets of such a pair reach but 252 bytes.
    (nt, $base:expr, $off:expr) => {
        concat!("add {z}, ", $base, ", #", $off, "\n", "mov s4, v0.s[1]\n", "stnp s0, s4, [{z}]\n")
    };
    (st_word, $base:expr, $off:expr) => {
        concat!("str d14, [", $base, ", #", $off, "]\n")
    };
    (nt_word, $base:expr, $off:expr) => {
        concat!("add {z}, ", $base, ", #", $off, "\n", "mov s4, v14.s[1]\n", "stnp s14, s4, [{z}]\n")
    };
    (xor, $base:expr, $off:expr) => {
        concat!("ldr d4, [", $base, ", #", $off, "]\n", "eor v0.8b, v0.8b, v4.8b\n")
    };
    (check, $base:expr, $off:expr) => {
        concat!("ldr d4, [", $base, ", #", $off, "]\n", "eor v16.8b, v16.8b, v4.8b\n")
    };
    (check_next, $base:expr, $off:expr) => {
        concat!("ldr d4, [", $base, ", #", $off, "]\n", "eor v20.8b, v20.8b, v4.8b\n")
    };
    (add) => {
        "fadd d0, d0, d4\n"
    };
    (scale) => {
        "fmul d0, d0, d15\n"
    };
    (scale_second) => {
        "fmul d4, d4, d15\n"
    };
    (fold) => {
        concat!("eor v16.8b, v16.8b, v20.8b\n", "fmov {x}, d16\n")
    };
}

family!(words);
