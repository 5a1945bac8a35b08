/** `node test/interop/rig/main.ts`: installs the rig and says what there is. */

import { ensureRig, rigFolder } from './install.ts';

const startedMs = performance.now();
const rig = ensureRig();
console.log(`Rig in ${rigFolder()} (${((performance.now() - startedMs) / 1000).toFixed(0)} s)`);
for (const [name, part] of Object.entries(rig)) {
  console.log(`  ${name}: ${part.available ? 'ready' : part.reason}`);
}
