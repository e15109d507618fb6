//! A plugin of qemu: counts the instructions that a program executes, and writes their number to standard
//! error when it ends.
//!
//! qemu translates a program block by block, and calls the plugin for each block that is translated, and
//! then each time that the block is executed.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

static EXECUTED: AtomicU64 = AtomicU64::new(0);

/// A block of instructions.
type Block = *mut c_void;

// As in `qemu-plugin.h`. qemu itself has these functions.
unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, call: extern "C" fn(u64, Block));
    fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: Block,
        call: extern "C" fn(c_uint, *mut c_void),
        registers: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_tb_n_insns(block: Block) -> usize;
    fn qemu_plugin_register_atexit_cb(
        id: u64,
        call: extern "C" fn(u64, *mut c_void),
        data: *mut c_void,
    );
}

/// The version of the interface: that of qemu 4 to 8.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: c_int = 1;

#[unsafe(no_mangle)]
pub extern "C" fn qemu_plugin_install(
    id: u64,
    _: *const c_void,
    _: c_int,
    _: *const *const c_char,
) -> c_int {
    // SAFETY: qemu calls this with the id of the plugin, and both functions have the types it expects.
    unsafe {
        qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
        qemu_plugin_register_atexit_cb(id, ended, std::ptr::null_mut());
    }
    0
}

extern "C" fn translated(_: u64, block: Block) {
    /// The call reads and writes no registers of the program.
    const NO_REGISTERS: c_int = 0;
    // SAFETY: the block is valid during this call. The pointer is a number, and nothing reads from it.
    unsafe {
        let instructions = std::ptr::without_provenance_mut(qemu_plugin_tb_n_insns(block));
        qemu_plugin_register_vcpu_tb_exec_cb(block, executed, NO_REGISTERS, instructions);
    }
}

extern "C" fn executed(_: c_uint, instructions: *mut c_void) {
    EXECUTED.fetch_add(instructions.addr() as u64, Ordering::Relaxed);
}

extern "C" fn ended(_: u64, _: *mut c_void) {
    eprintln!("instructions: {}", EXECUTED.load(Ordering::Relaxed));
}
