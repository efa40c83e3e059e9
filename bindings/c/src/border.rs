//! The border: every pointer from C is followed here, every panic ends here.

use crate::database::Database;
use crate::failure::Failure;
use crate::types::col_status;
use std::any::Any;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A world of objects. Only col_open makes one and only col_close ends it.
#[allow(non_camel_case_types)]
pub struct col_world {
    database: Database,
    /// About the last call that failed.
    error: CString,
    /// A call ended in the middle; nothing in the database can be relied on.
    broken: bool,
}

/// Any thread may use a world, one at a time: the header says so.
const _: () = {
    const fn may_change_threads<T: Send>() {}
    may_change_threads::<col_world>();
};

/// A new world behind a pointer.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn open(out: *mut *mut col_world) -> col_status {
    if out.is_null() {
        return col_status::COL_NULL_POINTER;
    }
    match catch_unwind(Database::new) {
        Ok(Ok(database)) => {
            let world = col_world { database, error: CString::default(), broken: false };
            // SAFETY: not null, so by the contract room for a pointer.
            unsafe { out.write(Box::into_raw(Box::new(world))) };
            col_status::COL_OK
        }
        Ok(Err(failure)) => failure.status(),
        Err(_) => col_status::COL_PANIC,
    }
}

/// Ends a world.
///
/// # Safety
/// As the crate says; the pointer is of no use afterwards.
pub(crate) unsafe fn close(world: *mut col_world) -> col_status {
    if world.is_null() {
        return col_status::COL_BAD_HANDLE;
    }
    // SAFETY: not null, so by the contract from `open`, and not closed yet.
    let world = unsafe { Box::from_raw(world) };
    match catch_unwind(AssertUnwindSafe(|| drop(world))) {
        Ok(()) => col_status::COL_OK,
        Err(_) => col_status::COL_PANIC,
    }
}

/// The text about the last failure; it lives until the next call.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn error_text(world: *const col_world) -> *const c_char {
    const NO_WORLD: &CStr = c"the world is NULL";
    // SAFETY: null, or by the contract a world that no other call uses.
    let world = unsafe { world.as_ref() };
    world.map_or(NO_WORLD.as_ptr(), |world| world.error.as_ptr())
}

/// Makes a call on a world. Whatever happens in it, a status comes out; after a panic the world
/// takes no more calls.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn enter(
    world: *mut col_world,
    call: impl FnOnce(&mut Database) -> Result<(), Failure>,
) -> col_status {
    // SAFETY: null, or by the contract a world that no other call uses.
    let Some(world) = (unsafe { world.as_mut() }) else { return col_status::COL_BAD_HANDLE };
    if world.broken {
        return col_status::COL_PANIC;
    }
    // A database that a panic left half changed is not used again, see `broken`.
    let outcome = catch_unwind(AssertUnwindSafe(|| call(&mut world.database)));
    let failure = match outcome {
        Ok(Ok(())) => return col_status::COL_OK,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::Panic(message(&*panic)),
    };
    let status = failure.status();
    world.broken = status == col_status::COL_PANIC;
    // C's strings end at the first zero byte; no text of ours has one.
    world.error = CString::new(failure.to_string()).unwrap_or_default();
    status
}

/// As [`enter`], with a result for C. Without room for it nothing is done.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn enter_for<T>(
    world: *mut col_world,
    out: *mut T,
    call: impl FnOnce(&mut Database) -> Result<T, Failure>,
) -> col_status {
    let call = |database: &mut Database| {
        if out.is_null() {
            return Err(Failure::Null("the pointer to the result"));
        }
        let value = call(database)?;
        // SAFETY: not null, so by the contract room for a value.
        unsafe { out.write(value) };
        Ok(())
    };
    // SAFETY: the same contract.
    unsafe { enter(world, call) }
}

/// Reads a value of C: a structure, or `T = [f64; N]` for N numbers in a row.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn read<T: Copy>(what: &'static str, pointer: *const T) -> Result<T, Failure> {
    if pointer.is_null() {
        return Err(Failure::Null(what));
    }
    // SAFETY: not null, so by the contract a value that can be read. All bits are values of `T`:
    // it consists of numbers only.
    Ok(unsafe { pointer.read() })
}

/// Room of C's for several results, and for how many there are.
pub(crate) struct Room<T> {
    pub(crate) first: *mut T,
    pub(crate) room: usize,
    pub(crate) total: *mut usize,
}

impl<T: Copy> Room<T> {
    /// Refuses null pointers. With room for none, to get only the number, `first` may be null.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.total.is_null() {
            return Err(Failure::Null("the pointer to the number of results"));
        }
        if self.first.is_null() && self.room > 0 {
            return Err(Failure::Null("the buffer for the results"));
        }
        Ok(())
    }

    /// Writes the number of results and as many of them as there is room for.
    ///
    /// # Safety
    /// As the crate says.
    pub(crate) unsafe fn fill(&self, results: &[T]) -> Result<(), Failure> {
        self.check()?;
        let (total, room) = (results.len(), self.room);
        // SAFETY: not null, so by the contract room for a number.
        unsafe { self.total.write(total) };
        let count = total.min(room);
        if count > 0 {
            // SAFETY: not null as there is room, so by the contract room for `count` values. It is
            // C's memory, so it cannot overlap with ours.
            unsafe { self.first.copy_from_nonoverlapping(results.as_ptr(), count) };
        }
        if room > 0 && count < total { Err(Failure::Truncated { total, room }) } else { Ok(()) }
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::*;

    #[test]
    fn a_panic_stays_inside_and_ends_the_world() {
        let mut world = std::ptr::null_mut();
        let text = |world| {
            // SAFETY: the world is open.
            unsafe { CStr::from_ptr(col_error_text(world)) }.to_string_lossy().into_owned()
        };
        // SAFETY: a world from `col_open` until `col_close`.
        unsafe {
            assert_eq!(col_open(&mut world), col_status::COL_OK);
            assert_eq!(text(world), "");
            let status = enter(world, |_| panic!("seen from {}", "outside"));
            assert_eq!(status, col_status::COL_PANIC);
            assert_eq!(text(world), "internal error, please report it: seen from outside");
            // No call gets in any more, and the text stays.
            let mut id = 7;
            assert_eq!(col_create_object(world, &mut id), col_status::COL_PANIC);
            assert_eq!(col_test(world), col_status::COL_PANIC);
            assert_eq!(id, 7);
            assert_eq!(text(world), "internal error, please report it: seen from outside");
            assert_eq!(col_close(world), col_status::COL_OK);
        }
    }

    #[test]
    fn a_refusal_further_in_is_our_mistake_and_ends_the_world() {
        let mut world = std::ptr::null_mut();
        // SAFETY: a world from `col_open` until `col_close`.
        unsafe {
            assert_eq!(col_open(&mut world), col_status::COL_OK);
            let refusal = || Err(Failure::World(jostle_world::WorldError::NoStopwatch));
            assert_eq!(enter(world, |_| refusal()), col_status::COL_PANIC);
            assert_eq!(enter(world, |_| Ok(())), col_status::COL_PANIC);
            assert_eq!(col_close(world), col_status::COL_OK);
        }
    }
}
