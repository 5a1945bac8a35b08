/**
 * The compiled kernel as the Workers runtime hands it over: a `WebAssembly.Module` made at deploy. The only
 * importer of `kernel.wasm`; elsewhere (Node, browsers) compile the file and pass the module to
 * `createKernel` yourself.
 */

import kernelModule from './kernel.wasm';

export default kernelModule;
