/** Kernel instances from the module that is bundled with the Worker. */

import kernelModule from '../../wasm/kernel.ts';
import type { Kernel } from './kernel.ts';
import { createKernel } from './kernel.ts';

export function createBundledKernel(): Kernel {
  return createKernel(kernelModule);
}
