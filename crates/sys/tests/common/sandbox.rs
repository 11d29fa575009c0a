//! A real sandbox for the tests.

#![expect(clippy::unwrap_used, reason = "a test's helper")]

use std::io;

/// Refuses system calls, by number and with an error number each, to the calling thread and what it
/// starts, for good: what a container's seccomp profile does. Not available under emulation.
pub fn refuse(calls: &[(libc::c_long, i32)]) -> io::Result<()> {
    let load = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let jump_equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let answer = (libc::BPF_RET | libc::BPF_K) as u16;
    let instruction = |code, jf, k| libc::sock_filter { code, jt: 0, jf, k };
    // The call's number is the first word of what a filter sees.
    let mut filter = vec![instruction(load, 0, 0)];
    for &(number, errno) in calls {
        filter.push(instruction(jump_equal, 1, u32::try_from(number).unwrap()));
        filter.push(instruction(answer, 0, libc::SECCOMP_RET_ERRNO | errno as u32));
    }
    filter.push(instruction(answer, 0, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: u16::try_from(filter.len()).unwrap(), filter: filter.as_mut_ptr() };
    // SAFETY: sets a flag of this thread.
    let returned = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if returned != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the program points to `len` instructions, which the kernel checks and copies.
    let returned = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0) };
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
