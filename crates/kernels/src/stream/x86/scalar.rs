//! The first 8 bytes of each line, by scalar instructions.

macro_rules! words {
    (bytes) => {
        "8"
    };
    (each) => {
        ".irp o,0\n"
    };
    (ld, $r:literal, $at:expr) => {
        concat!("movsd xmm", $r, ", ", $at)
    };
    (st, $r:literal, $at:expr) => {
        concat!("movsd ", $at, ", xmm", $r)
    };
    (nt, $r:literal, $at:expr) => {
        concat!("movq {u}, xmm", $r, "\nmovnti ", $at, ", {u}")
    };
    (xor, $r:literal, $at:expr) => {
        concat!("movsd xmm13, ", $at, "\npxor xmm", $r, ", xmm13")
    };
    (add, $r:literal, $at:expr) => {
        concat!("addsd xmm", $r, ", ", $at)
    };
    (scale, $r:literal) => {
        concat!("mulsd xmm", $r, ", xmm15")
    };
    (setup) => {
        concat!(
            "mov {x}, {word}\n",
            "movq xmm14, {x}\n",
            "mov {x}, {factor}\n",
            "movq xmm15, {x}\n",
            ".irp l,0,1,2,3\n",
            "pxor xmm\\l, xmm\\l\n",
            ".endr"
        )
    };
    (fold) => {
        concat!("pxor xmm0, xmm1\n", "pxor xmm2, xmm3\n", "pxor xmm0, xmm2\n", "movq {x}, xmm0")
    };
    (leave) => {
        ""
    };
}

family!(words);
