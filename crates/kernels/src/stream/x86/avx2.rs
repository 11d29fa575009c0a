//! 32-byte vectors.

macro_rules! words {
    (bytes) => {
        "32"
    };
    (each) => {
        ".irp o,0,1\n"
    };
    (ld, $r:literal, $at:expr) => {
        concat!("vmovaps ymm", $r, ", ", $at)
    };
    (st, $r:literal, $at:expr) => {
        concat!("vmovaps ", $at, ", ymm", $r)
    };
    (nt, $r:literal, $at:expr) => {
        concat!("vmovntps ", $at, ", ymm", $r)
    };
    (xor, $r:literal, $at:expr) => {
        concat!("vpxor ymm", $r, ", ymm", $r, ", ", $at)
    };
    (add, $r:literal, $at:expr) => {
        concat!("vaddpd ymm", $r, ", ymm", $r, ", ", $at)
    };
    (scale, $r:literal) => {
        concat!("vmulpd ymm", $r, ", ymm", $r, ", ymm15")
    };
    (setup) => {
        concat!(
            "mov {x}, {word}\n",
            "vmovq xmm14, {x}\n",
            "vpbroadcastq ymm14, xmm14\n",
            "mov {x}, {factor}\n",
            "vmovq xmm15, {x}\n",
            "vpbroadcastq ymm15, xmm15\n",
            ".irp l,0,1,2,3\n",
            "vpxor xmm\\l, xmm\\l, xmm\\l\n",
            ".endr"
        )
    };
    (fold) => {
        concat!(
            "vpxor ymm0, ymm0, ymm1\n",
            "vpxor ymm2, ymm2, ymm3\n",
            "vpxor ymm0, ymm0, ymm2\n",
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
