//! 64-byte vectors; Foundation instructions only.

macro_rules! words {
    (bytes) => {
        "64"
    };
    (each) => {
        ".irp o,0\n"
    };
    (ld, $r:literal, $at:expr) => {
        concat!("vmovaps zmm", $r, ", ", $at)
    };
    (st, $r:literal, $at:expr) => {
        concat!("vmovaps ", $at, ", zmm", $r)
    };
    (nt, $r:literal, $at:expr) => {
        concat!("vmovntps ", $at, ", zmm", $r)
    };
    (xor, $r:literal, $at:expr) => {
        concat!("vpxorq zmm", $r, ", zmm", $r, ", ", $at)
    };
    (add, $r:literal, $at:expr) => {
        concat!("vaddpd zmm", $r, ", zmm", $r, ", ", $at)
    };
    (scale, $r:literal) => {
        concat!("vmulpd zmm", $r, ", zmm", $r, ", zmm15")
    };
    (setup) => {
        concat!(
            "mov {x}, {word}\n",
            "vpbroadcastq zmm14, {x}\n",
            "mov {x}, {factor}\n",
            "vpbroadcastq zmm15, {x}\n",
            ".irp l,0,1,2,3\n",
            "vpxor xmm\\l, xmm\\l, xmm\\l\n",
            ".endr"
        )
    };
    (fold) => {
        concat!(
            "vpxorq zmm0, zmm0, zmm1\n",
            "vpxorq zmm2, zmm2, zmm3\n",
            "vpxorq zmm0, zmm0, zmm2\n",
            "vextracti64x4 ymm1, zmm0, 1\n",
            "vpxor ymm0, ymm0, ymm1\n",
            "vextracti128 xmm1, ymm0, 1\n",
            "vpxor xmm0, xmm0, xmm1\n",
            "vpunpckhqdq xmm1, xmm0, xmm0\n",
            "vpxor xmm0, xmm0, xmm1\n",
            "vmovq {x}, xmm0"
        )
    };
    (leave) => {
        "vzeroupper"
    };
}

family!(words);
