//! Instruction sets that a bandwidth kernel can be written in.

/// An instruction set of the bandwidth kernels.
///
/// Every variant exists on every architecture; those that the running CPU and
/// operating system do not offer are simply not [available](Isa::available).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Isa {
    /// 64-bit scalar loads and stores in plain Rust; no non-temporal stores.
    Portable,
    /// 16-byte vectors, x86-64's baseline.
    Sse2,
    /// 32-byte vectors.
    Avx2,
    /// 64-byte vectors (the Foundation subset only).
    Avx512,
    /// 16-byte vectors in pairs, AArch64's baseline.
    Neon,
}

impl Isa {
    /// All of them, in rising order of preference within an architecture.
    pub const ALL: [Self; 5] = [Self::Portable, Self::Sse2, Self::Avx2, Self::Avx512, Self::Neon];

    /// What can run here, in rising order of preference; never empty.
    ///
    /// The x86 answers come from CPUID *and* XGETBV (std checks both), so a
    /// hypervisor or kernel that masks a register state is believed.
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|isa| isa.is_available()).collect()
    }

    /// The widest that can run here.
    #[must_use]
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|isa| isa.is_available()).unwrap_or(Self::Portable)
    }

    /// Whether kernels of this instruction set can run here.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => std::arch::is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            _ => false,
        }
    }

    /// The lower-case name used in flags and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// The inverse of [`Isa::name`].
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|isa| isa.name() == name)
    }
}

impl std::fmt::Display for Isa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Isa;

    #[test]
    fn names_are_unique_and_come_back() {
        for isa in Isa::ALL {
            assert_eq!(Isa::by_name(isa.name()), Some(isa));
        }
        assert_eq!(Isa::by_name("AVX512"), None);
    }

    #[test]
    fn the_best_is_the_last_available() {
        let all = Isa::available();
        assert_eq!(all.last(), Some(&Isa::best()));
        assert!(all.contains(&Isa::Portable));
    }
}
