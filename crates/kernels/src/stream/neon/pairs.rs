//! Whole lines: two pairs of 16-byte vectors a line.
//!
//! Registers 0 to 3 carry data, 4 to 7 that of the second stream, 16 to 23 are
//! accumulators, 14 holds the written word and 15 the factor.

macro_rules! words {
    (ld, $base:expr, $off:expr) => {
        concat!("ldp q0, q1, [", $base, ", #", $off, "]\n", "ldp q2, q3, [", $base, ", #", $off, " + 32]\n")
    };
    (ld_second, $base:expr, $off:expr) => {
        concat!("ldp q4, q5, [", $base, ", #", $off, "]\n", "ldp q6, q7, [", $base, ", #", $off, " + 32]\n")
    };
    (st, $base:expr, $off:expr) => {
        concat!("stp q0, q1, [", $base, ", #", $off, "]\n", "stp q2, q3, [", $base, ", #", $off, " + 32]\n")
    };
    (nt, $base:expr, $off:expr) => {
        concat!("stnp q0, q1, [", $base, ", #", $off, "]\n", "stnp q2, q3, [", $base, ", #", $off, " + 32]\n")
    };
    (st_word, $base:expr, $off:expr) => {
        concat!("stp q14, q14, [", $base, ", #", $off, "]\n", "stp q14, q14, [", $base, ", #", $off, " + 32]\n")
    };
    (nt_word, $base:expr, $off:expr) => {
        concat!("stnp q14, q14, [", $base, ", #", $off, "]\n", "stnp q14, q14, [", $base, ", #", $off, " + 32]\n")
    };
    (xor, $base:expr, $off:expr) => {
        concat!(
            "ldp q4, q5, [",
            $base,
            ", #",
            $off,
            "]\n",
            "ldp q6, q7, [",
            $base,
            ", #",
            $off,
            " + 32]\n",
            "eor v0.16b, v0.16b, v4.16b\n",
            "eor v1.16b, v1.16b, v5.16b\n",
            "eor v2.16b, v2.16b, v6.16b\n",
            "eor v3.16b, v3.16b, v7.16b\n"
        )
    };
    (check, $base:expr, $off:expr) => {
        concat!(
            "ldp q0, q1, [",
            $base,
            ", #",
            $off,
            "]\n",
            "ldp q2, q3, [",
            $base,
            ", #",
            $off,
            " + 32]\n",
            "eor v16.16b, v16.16b, v0.16b\n",
            "eor v17.16b, v17.16b, v1.16b\n",
            "eor v18.16b, v18.16b, v2.16b\n",
            "eor v19.16b, v19.16b, v3.16b\n"
        )
    };
    (check_next, $base:expr, $off:expr) => {
        concat!(
            "ldp q4, q5, [",
            $base,
            ", #",
            $off,
            "]\n",
            "ldp q6, q7, [",
            $base,
            ", #",
            $off,
            " + 32]\n",
            "eor v20.16b, v20.16b, v4.16b\n",
            "eor v21.16b, v21.16b, v5.16b\n",
            "eor v22.16b, v22.16b, v6.16b\n",
            "eor v23.16b, v23.16b, v7.16b\n"
        )
    };
    (add) => {
        concat!(
            "fadd v0.2d, v0.2d, v4.2d\n",
            "fadd v1.2d, v1.2d, v5.2d\n",
            "fadd v2.2d, v2.2d, v6.2d\n",
            "fadd v3.2d, v3.2d, v7.2d\n"
        )
    };
    (scale) => {
        concat!(
            "fmul v0.2d, v0.2d, v15.2d\n",
            "fmul v1.2d, v1.2d, v15.2d\n",
            "fmul v2.2d, v2.2d, v15.2d\n",
            "fmul v3.2d, v3.2d, v15.2d\n"
        )
    };
    (scale_second) => {
        concat!(
            "fmul v4.2d, v4.2d, v15.2d\n",
            "fmul v5.2d, v5.2d, v15.2d\n",
            "fmul v6.2d, v6.2d, v15.2d\n",
            "fmul v7.2d, v7.2d, v15.2d\n"
        )
    };
    (fold) => {
        concat!(
            ".irp r,17,18,19,20,21,22,23\n",
            "eor v16.16b, v16.16b, v\\r\\().16b\n",
            ".endr\n",
            "mov {x}, v16.d[0]\n",
            "mov {y}, v16.d[1]\n",
            "eor {x}, {x}, {y}\n"
        )
    };
}

family!(words);
