//! 16-byte vectors.

macro_rules! words {
    (bytes) => {
        "16"
    };
    (each) => {
        ".irp o,0,1,2,3\n"
    };
    (ld, $r:literal, $at:expr) => {
        concat!("movaps xmm", $r, ", ", $at)
    };
    (st, $r:literal, $at:expr) => {
        concat!("movaps ", $at, ", xmm", $r)
    };
    (nt, $r:literal, $at:expr) => {
        concat!("movntps ", $at, ", xmm", $r)
    };
    (xor, $r:literal, $at:expr) => {
        concat!("pxor xmm", $r, ", ", $at)
    };
    (add, $r:literal, $at:expr) => {
        concat!("addpd xmm", $r, ", ", $at)
    };
    (scale, $r:literal) => {
        concat!("mulpd xmm", $r, ", xmm15")
    };
    (setup) => {
        concat!(
            "mov {x}, {word}\n",
            "movq xmm14, {x}\n",
            "punpcklqdq xmm14, xmm14\n",
            "mov {x}, {factor}\n",
            "movq xmm15, {x}\n",
            "punpcklqdq xmm15, xmm15\n",
            ".irp l,0,1,2,3\n",
            "pxor xmm\\l, xmm\\l\n",
            ".endr"
        )
    };
    (fold) => {
        concat!(
            "pxor xmm0, xmm1\n",
            "pxor xmm2, xmm3\n",
            "pxor xmm0, xmm2\n",
            "movhlps xmm1, xmm0\n",
            "pxor xmm0, xmm1\n",
            "movq {x}, xmm0"
        )
    };
    (leave) => {
        ""
    };
}

family!(words);
