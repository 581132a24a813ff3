//! What this CPU can do at once.

use std::sync::OnceLock;

/// Which code runs on this CPU: each does more at once than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CpuPath {
    Portable,
    Avx2,
    Avx512,
}

impl CpuPath {
    /// Those that this CPU can take.
    pub fn here() -> impl Iterator<Item = CpuPath> {
        [CpuPath::Portable, CpuPath::Avx2, CpuPath::Avx512].into_iter().filter(|path| path.is_here())
    }

    #[cfg(simd)]
    pub fn is_here(&self) -> bool {
        match self {
            CpuPath::Portable => true,
            CpuPath::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            CpuPath::Avx512 => {
                CpuPath::Avx2.is_here()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
        }
    }

    #[cfg(not(simd))]
    pub fn is_here(&self) -> bool {
        *self == CpuPath::Portable
    }
}

/// The best path of this CPU; ARROWPREP_KERNEL_CPU=portable or avx2 keeps to a lesser one.
pub fn cpu_path() -> CpuPath {
    static PATH: OnceLock<CpuPath> = OnceLock::new();
    *PATH.get_or_init(|| {
        let most = match std::env::var("ARROWPREP_KERNEL_CPU").as_deref() {
            Ok("portable") => CpuPath::Portable,
            Ok("avx2") => CpuPath::Avx2,
            _ => CpuPath::Avx512,
        };
        CpuPath::here().filter(|path| *path <= most).last().unwrap_or(CpuPath::Portable)
    })
}
