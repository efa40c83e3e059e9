//! Many numbers at a time: the operations that kernels may use, and the choice of instruction set.
//!
//! A kernel is written once, over the lane types of `Simd`, and runs either on AVX2 + FMA (found
//! at run time) or on plain arrays. Both give the same bits: every operation here is one IEEE
//! operation per lane with one rounding, and `mul_add` is the fused one on both sides. All `unsafe`
//! of this crate lives in this folder, for one reason: a function compiled for AVX2 may run only
//! after the processor was asked. (And the one instruction of `prefetch`, which cannot fail.)
//!
//! Shape after Embree's `common/simd` (kernels once, one folder per instruction set) and pulp's
//! `WithSimd` (dispatch by a kernel object).

/// An array of three, written out: `three!(i => f(i))` is `[f(0), f(1), f(2)]`.
///
/// Kernels must not use closures or `map`: the compiler gives those a function of their own,
/// without the instructions of the kernel around them, and every lane operation becomes a call
/// (measured: four times slower).
macro_rules! three {
    ($i:ident => $value:expr) => {
        [
            {
                const $i: usize = 0;
                $value
            },
            {
                const $i: usize = 1;
                $value
            },
            {
                const $i: usize = 2;
                $value
            },
        ]
    };
}
pub(crate) use three;

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;

use std::sync::atomic::{AtomicBool, Ordering};

/// Eight `f32`.
pub trait F32x8: Copy {
    /// The same number in all lanes.
    fn splat(x: f32) -> Self;
    /// Lane by lane from memory.
    fn load(from: &[f32; 8]) -> Self;
    /// Eight integers, each converted exactly.
    fn load_i16(from: &[i16; 8]) -> Self;
    /// Lane by lane to memory.
    fn store(self, to: &mut [f32; 8]);
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// Product.
    fn mul(self, other: Self) -> Self;
    /// `self * b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `self * b - c`, rounded once.
    fn mul_sub(self, b: Self, c: Self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Smaller of two; `other` when either is NaN.
    fn min(self, other: Self) -> Self;
    /// Larger of two; `other` when either is NaN.
    fn max(self, other: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Bit k says whether lane k is greater than the other's.
    fn gt(self, other: Self) -> u8;
    /// Bit k says whether in lane k any of the first is greater than its partner.
    fn any_gt<const N: usize>(these: [Self; N], others: [Self; N]) -> u8;
    /// Lanes 4 to 7 before lanes 0 to 3.
    fn swap_halves(self) -> Self;
    /// Bit k says whether the top bit of integer k is set.
    fn top_bits(of: &[u32; 8]) -> u8;
    /// Per lane: `self < other` picks from `yes`, otherwise from `no`.
    fn select_lt(self, other: Self, yes: Self, no: Self) -> Self;
}

/// Four `f64`.
pub trait F64x4: Copy {
    /// The same number in all lanes.
    fn splat(x: f64) -> Self;
    /// Lane by lane.
    fn new(lanes: [f64; 4]) -> Self;
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// Product.
    fn mul(self, other: Self) -> Self;
    /// `self * b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `self * b - c`, rounded once.
    fn mul_sub(self, b: Self, c: Self) -> Self;
    /// Smaller of two; `other` when either is NaN.
    fn min(self, other: Self) -> Self;
    /// Larger of two; `other` when either is NaN.
    fn max(self, other: Self) -> Self;
    /// Quotient.
    fn div(self, other: Self) -> Self;
    /// Bit k says whether lane k is greater than the other's.
    fn gt(self, other: Self) -> u8;
    /// Per lane: `self < other` picks from `yes`, otherwise from `no`.
    fn select_lt(self, other: Self, yes: Self, no: Self) -> Self;
    /// Lane by lane to memory.
    fn to_array(self) -> [f64; 4];
}

/// An instruction set: its lane types.
pub trait Simd {
    /// Eight `f32`.
    type F: F32x8;
    /// Four `f64`.
    type D: F64x4;
}

/// Work that runs on any instruction set. Public for the other crates of this workspace.
///
/// ```
/// use jostle_geom::simd::{F32x8, Isa, Kernel, Simd};
///
/// struct Larger([f32; 8], f32);
///
/// impl Kernel for Larger {
///     type Out = u8;
///     #[inline(always)]
///     fn run<S: Simd>(self) -> u8 {
///         S::F::load(&self.0).gt(S::F::splat(self.1))
///     }
/// }
///
/// let lanes = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// assert_eq!(Isa::best().run(Larger(lanes, 4.5)), 0b1110_0000);
/// ```
///
/// `run` must be `#[inline(always)]`, so that it is
/// compiled with the instructions of the function that calls it.
pub trait Kernel {
    /// What comes out.
    type Out;
    /// The work.
    fn run<S: Simd>(self) -> Self::Out;
}

/// The instruction set in use. A value of `Avx2` is proof that the processor has AVX2 and FMA:
/// only [`Isa::best`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

static SCALAR_ONLY: AtomicBool = AtomicBool::new(false);

/// Makes every later query use plain arrays (`true`) or the best instruction set again (`false`).
/// The answers and the counters are the same bits; tests and measurements use this to show it.
pub fn use_scalar_only(yes: bool) {
    SCALAR_ONLY.store(yes, Ordering::Relaxed);
}

impl Isa {
    /// The best that this processor has.
    #[inline]
    #[must_use]
    pub fn best() -> Isa {
        if SCALAR_ONLY.load(Ordering::Relaxed) {
            return Isa(Kind::Scalar);
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            return Isa(Kind::Avx2);
        }
        Isa(Kind::Scalar)
    }

    /// Runs a kernel.
    #[inline(always)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Out {
        match self.0 {
            Kind::Scalar => run_scalar(kernel),
            // SAFETY: `Kind::Avx2` is made only by `Isa::best`, after all six
            // features that `run_avx2` is compiled for were detected.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Kind::Avx2 => unsafe { run_avx2(kernel) },
        }
    }
}

#[inline(never)]
fn run_scalar<K: Kernel>(kernel: K) -> K::Out {
    kernel.run::<scalar::Scalar>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Out {
    kernel.run::<avx2::Avx2>()
}

/// Asks the processor to fetch a value's cache lines; has no other effect.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        let mut at = std::ptr::from_ref(value).cast::<i8>();
        for _ in 0..size_of::<T>().div_ceil(64) {
            // SAFETY: a prefetch reads nothing and cannot fault; SSE is part of x86-64.
            #[allow(unsafe_code)]
            unsafe {
                use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                _mm_prefetch::<_MM_HINT_T0>(at);
            }
            at = at.wrapping_add(64);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
