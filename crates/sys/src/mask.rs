//! Bit masks of CPUs and nodes as the kernel takes them: arrays of `unsigned long`, any length.

use libc::c_ulong;

use crate::errno::Errno;

/// Bits in a mask's word.
const WORD: u32 = c_ulong::BITS;

/// The first mask tried covers this many ids.
const FIRST_BITS: u32 = 1024;

/// No kernel has more ids than this; growing stops here.
const MAX_BITS: u32 = 1 << 20;

/// The mask that has exactly `ids` set, as short as can be (one word at least).
pub(crate) fn to_words(ids: impl IntoIterator<Item = u32>) -> Vec<c_ulong> {
    let mut words = vec![0; 1];
    for id in ids {
        let index = (id / WORD) as usize;
        if index >= words.len() {
            words.resize(index + 1, 0);
        }
        words[index] |= 1 << (id % WORD);
    }
    words
}

/// The ids set in a mask, ascending.
pub(crate) fn from_words(words: &[c_ulong]) -> Vec<u32> {
    let mut ids = Vec::new();
    for (first, &word) in (0..).step_by(WORD as usize).zip(words) {
        ids.extend((0..WORD).filter(|bit| word >> bit & 1 == 1).map(|bit| first + bit));
    }
    ids
}

/// Asks the kernel for a mask, longer and longer until it stops answering that the mask is too
/// short for it (`EINVAL`). Machines with more than 1024 CPUs exist; fixed-size masks fail there.
pub(crate) fn read_growing(mut ask: impl FnMut(&mut [c_ulong]) -> Result<(), Errno>) -> Result<Vec<u32>, Errno> {
    let mut bits = FIRST_BITS;
    loop {
        let mut words = vec![0; bits.div_ceil(WORD) as usize];
        match ask(&mut words) {
            Ok(()) => return Ok(from_words(&words)),
            Err(Errno(libc::EINVAL)) if bits < MAX_BITS => bits *= 2,
            Err(errno) => return Err(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_grows_until_the_kernel_takes_it() {
        let cpus = [0, 63, 64, 1024, 4999];
        let mut asked = Vec::new();
        let got = read_growing(|words| {
            asked.push(words.len() * WORD as usize);
            if words.len() * (WORD as usize) < 5000 {
                return Err(Errno(libc::EINVAL));
            }
            let kernel = to_words(cpus);
            words[..kernel.len()].copy_from_slice(&kernel);
            Ok(())
        });
        assert_eq!(got, Ok(cpus.to_vec()));
        assert_eq!(asked, [1024, 2048, 4096, 8192]);
    }

    #[test]
    fn growing_ends() {
        assert_eq!(read_growing(|_| Err(Errno(libc::EINVAL))), Err(Errno(libc::EINVAL)));
        assert_eq!(read_growing(|_| Err(Errno(libc::EPERM))), Err(Errno(libc::EPERM)));
    }

    proptest::proptest! {
        #[test]
        fn words_hold_the_ids(ids in proptest::collection::btree_set(0u32..9000, 0..40)) {
            let sorted: Vec<u32> = ids.iter().copied().collect();
            proptest::prop_assert_eq!(from_words(&to_words(ids)), sorted);
        }
    }
}
