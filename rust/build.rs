//! Says where there is code for the vector instructions of the CPU: `cfg(simd)`. With ARROWPREP_KERNEL_PORTABLE in the
//! environment there is none anywhere, so that what other CPUs get can be compiled on every machine.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(simd)");
    println!("cargo::rerun-if-env-changed=ARROWPREP_KERNEL_PORTABLE");
    let has_some = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64");
    if has_some && env::var_os("ARROWPREP_KERNEL_PORTABLE").is_none() {
        println!("cargo::rustc-cfg=simd");
    }
}
