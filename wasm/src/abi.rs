//! The C interface of the module, described in `README.md`. Decoders and encoders are numbers for the host;
//! a call returns 0, or -1 and leaves an error as JSON in the result. The only file with unsafe code: it reads
//! what the host wrote into memory it had asked for, and the host is trusted to give the right length.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::io::Write;

use crate::body::Body;
use crate::error::{KernelError, Result};
use crate::slice::Limits;
use crate::writer::Writer;

#[link(wasm_import_module = "floe")]
unsafe extern "C" {
    /// Bytes of an encoder's file, valid during the call.
    #[link_name = "write"]
    fn host_write(encoder: u32, pointer: *const u8, length: usize);
    /// Rows of a partition as an Arrow IPC stream, to be kept until its file is open.
    #[link_name = "spill"]
    fn host_spill(encoder: u32, partition: u32, pointer: *const u8, length: usize);
    /// The message of a panic, just before the trap.
    #[link_name = "panicked"]
    fn host_panicked(pointer: *const u8, length: usize);
    /// So many bytes could not be had; a trap follows unless the code can do without.
    #[link_name = "exhausted"]
    fn host_exhausted(bytes: usize);
}

/// The system's allocator, which tells the host when it has nothing left: a failed allocation ends in a bare trap.
struct ReportingAllocator;

#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

// SAFETY: everything is the system's allocator's doing; the host's call only notes a number.
unsafe impl GlobalAlloc for ReportingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        report(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        report(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        report(unsafe { System.realloc(pointer, layout, size) }, size)
    }
}

#[inline]
fn report(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        // SAFETY: the host takes a number and does not call back.
        unsafe { host_exhausted(bytes) };
    }
    pointer
}

#[derive(Default)]
struct Instance {
    bodies: Vec<Option<Body>>,
    encoders: Vec<Option<Writer<HostSink>>>,
    /// JSON of the last call.
    facts: Vec<u8>,
    /// Arrow IPC of the last decode.
    bytes: Vec<u8>,
}

thread_local! {
    static INSTANCE: RefCell<Instance> = RefCell::default();
}

struct HostSink {
    encoder: u32,
}

impl Write for HostSink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // SAFETY: the host copies the bytes before it returns and does not call back.
        unsafe { host_write(self.encoder, bytes.as_ptr(), bytes.len()) };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// SAFETY: `pointer` and `length` must come from `floe_alloc` and be written to, or be empty.
unsafe fn input<'a>(pointer: *const u8, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(pointer, length) }
}

fn as_text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| KernelError::internal("the host's text is not UTF-8"))
}

/// Runs `action` and leaves its text, or its error, in the result. 0 or -1.
fn call(action: impl FnOnce(&mut Instance) -> Result<String>) -> i32 {
    INSTANCE.with_borrow_mut(|instance| {
        instance.bytes = Vec::new();
        match action(instance) {
            Ok(facts) => {
                instance.facts = facts.into_bytes();
                0
            }
            Err(error) => {
                instance.facts = error.to_json().into_bytes();
                -1
            }
        }
    })
}

fn lookup<T>(slots: &mut [Option<T>], number: u32) -> Result<&mut T> {
    let slot = slots.get_mut(number as usize).and_then(Option::as_mut);
    slot.ok_or_else(|| KernelError::internal("the decoder or encoder is closed"))
}

fn free_slot<T>(slots: &mut Vec<Option<T>>) -> usize {
    match slots.iter().position(Option::is_none) {
        Some(index) => index,
        None => {
            slots.push(None);
            slots.len() - 1
        }
    }
}

/// The two halves of a number nobody can guess, for hash tables that hold values of requests.
#[unsafe(no_mangle)]
extern "C" fn floe_start(seed_low: u32, seed_high: u32) {
    ahash::set_seed(u64::from(seed_low) | u64::from(seed_high) << 32);
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        // SAFETY: the message lives until the call returns.
        unsafe { host_panicked(message.as_ptr(), message.len()) };
    }));
}

#[unsafe(no_mangle)]
extern "C" fn floe_alloc(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// # Safety
/// `pointer` and `length` are those of one `floe_alloc`.
#[unsafe(no_mangle)]
unsafe extern "C" fn floe_free(pointer: *mut u8, length: usize) {
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(pointer, length)) });
}

#[unsafe(no_mangle)]
extern "C" fn floe_facts() -> *const u8 {
    INSTANCE.with_borrow(|instance| instance.facts.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn floe_facts_length() -> usize {
    INSTANCE.with_borrow(|instance| instance.facts.len())
}

#[unsafe(no_mangle)]
extern "C" fn floe_bytes() -> *const u8 {
    INSTANCE.with_borrow(|instance| instance.bytes.as_ptr())
}

#[unsafe(no_mangle)]
extern "C" fn floe_bytes_length() -> usize {
    INSTANCE.with_borrow(|instance| instance.bytes.len())
}

/// Gives the memory of the last result back.
#[unsafe(no_mangle)]
extern "C" fn floe_forget() {
    INSTANCE.with_borrow_mut(|instance| {
        instance.facts = Vec::new();
        instance.bytes = Vec::new();
    });
}

/// The number of a new decoder, or -1. `format` as in [`Body::new`].
///
/// # Safety
/// As [`input`].
#[unsafe(no_mangle)]
unsafe extern "C" fn floe_decoder_open(
    format: *const u8,
    format_length: usize,
    slice_bytes: usize,
    row_bytes_max: usize,
    raw_bytes_max: usize,
) -> i32 {
    let format = unsafe { input(format, format_length) };
    let mut number = 0;
    let status = call(|instance| {
        let body = Body::new(as_text(format)?, Limits { slice_bytes, row_bytes_max, raw_bytes_max })?;
        number = free_slot(&mut instance.bodies);
        instance.bodies[number] = Some(body);
        Ok(String::new())
    });
    if status == 0 { number as i32 } else { status }
}

/// # Safety
/// As [`input`].
#[unsafe(no_mangle)]
unsafe extern "C" fn floe_decoder_push(decoder: u32, pointer: *const u8, length: usize) -> i32 {
    let chunk = unsafe { input(pointer, length) };
    call(|instance| lookup(&mut instance.bodies, decoder)?.push(chunk).map(|()| String::new()))
}

#[unsafe(no_mangle)]
extern "C" fn floe_decoder_finish(decoder: u32) -> i32 {
    call(|instance| lookup(&mut instance.bodies, decoder)?.finish().map(|()| String::new()))
}

/// 1 or 0.
#[unsafe(no_mangle)]
extern "C" fn floe_decoder_ready(decoder: u32) -> i32 {
    INSTANCE.with_borrow_mut(|instance| lookup(&mut instance.bodies, decoder).is_ok_and(|body| body.ready()).into())
}

/// Facts: a `DecodedSlice` without its `ipc`; bytes: the `ipc`, empty for none.
///
/// # Safety
/// As [`input`].
#[unsafe(no_mangle)]
unsafe extern "C" fn floe_decoder_decode(decoder: u32, schema: *const u8, schema_length: usize) -> i32 {
    let schema = unsafe { input(schema, schema_length) };
    call(|instance| {
        let slice = lookup(&mut instance.bodies, decoder)?.decode(as_text(schema)?)?;
        let facts = slice.facts();
        instance.bytes = slice.into_ipc()?;
        Ok(facts)
    })
}

/// As `floe_decoder_decode`, but the accepted rows go straight into an encoder.
///
/// # Safety
/// As [`input`].
#[unsafe(no_mangle)]
unsafe extern "C" fn floe_decoder_decode_into(
    decoder: u32,
    encoder: u32,
    schema: *const u8,
    schema_length: usize,
) -> i32 {
    let schema = unsafe { input(schema, schema_length) };
    call(|instance| {
        let slice = lookup(&mut instance.bodies, decoder)?.decode(as_text(schema)?)?;
        let encoder = lookup(&mut instance.encoders, encoder)?;
        slice.batches.iter().try_for_each(|batch| encoder.append(batch))?;
        Ok(slice.facts())
    })
}

#[unsafe(no_mangle)]
extern "C" fn floe_decoder_advance(decoder: u32) -> i32 {
    call(|instance| {
        lookup(&mut instance.bodies, decoder)?.advance();
        Ok(String::new())
    })
}

#[unsafe(no_mangle)]
extern "C" fn floe_decoder_close(decoder: u32) {
    INSTANCE.with_borrow_mut(|instance| {
        if let Some(slot) = instance.bodies.get_mut(decoder as usize) {
            *slot = None;
        }
    });
}

/// The number of a new encoder, or -1. `options` is the host's `ParquetOptions` as JSON.
///
/// # Safety
/// As [`input`].
#[unsafe(no_mangle)]
unsafe extern "C" fn floe_encoder_open(
    schema: *const u8,
    schema_length: usize,
    options: *const u8,
    options_length: usize,
) -> i32 {
    let schema = unsafe { input(schema, schema_length) };
    let options = unsafe { input(options, options_length) };
    let mut number = 0;
    let status = call(|instance| {
        number = free_slot(&mut instance.encoders);
        let encoder = number as u32;
        // SAFETY: the host copies the bytes before it returns and does not call back.
        let spill = move |partition, bytes: &[u8]| unsafe { host_spill(encoder, partition, bytes.as_ptr(), bytes.len()) };
        let writer = Writer::new(as_text(schema)?, as_text(options)?, HostSink { encoder }, Box::new(spill))?;
        instance.encoders[number] = Some(writer);
        Ok(String::new())
    });
    if status == 0 { number as i32 } else { status }
}

/// # Safety
/// As [`input`].
#[unsafe(no_mangle)]
unsafe extern "C" fn floe_encoder_append(encoder: u32, pointer: *const u8, length: usize) -> i32 {
    let ipc = unsafe { input(pointer, length) };
    call(|instance| lookup(&mut instance.encoders, encoder)?.append_ipc(ipc).map(|()| String::new()))
}

/// A double, so that the host needs no 64-bit integer.
#[unsafe(no_mangle)]
extern "C" fn floe_encoder_encoded_bytes(encoder: u32) -> f64 {
    INSTANCE.with_borrow_mut(|instance| {
        lookup(&mut instance.encoders, encoder).map_or(0.0, |encoder| encoder.encoded_bytes() as f64)
    })
}

/// Partitions that the rows so far fall into; 0 for an encoder without.
#[unsafe(no_mangle)]
extern "C" fn floe_encoder_partitions(encoder: u32) -> u32 {
    INSTANCE.with_borrow_mut(|instance| {
        lookup(&mut instance.encoders, encoder).map_or(0, |encoder| encoder.partition_count() as u32)
    })
}

/// From here on `floe_encoder_append` takes rows that `floe.spill` was given, and `floe_encoder_finish` ends the file.
#[unsafe(no_mangle)]
extern "C" fn floe_encoder_open_partition(encoder: u32, partition: u32) -> i32 {
    call(|instance| {
        let sink = HostSink { encoder };
        lookup(&mut instance.encoders, encoder)?.open_partition(partition as usize, sink)?;
        Ok(String::new())
    })
}

/// Facts: an `EncodedFile`; of a partition's file with its `partition`.
#[unsafe(no_mangle)]
extern "C" fn floe_encoder_finish(encoder: u32) -> i32 {
    call(|instance| Ok(lookup(&mut instance.encoders, encoder)?.finish()?.to_string()))
}

#[unsafe(no_mangle)]
extern "C" fn floe_encoder_close(encoder: u32) {
    INSTANCE.with_borrow_mut(|instance| {
        if let Some(slot) = instance.encoders.get_mut(encoder as usize) {
            *slot = None;
        }
    });
}
