import { MemoryObjectStore } from '../../../src/object-store/memory.ts';
import { describeObjectStore } from '../../conformance/object-store.suite.ts';
import { FaultyObjectStore } from '../../support/faulty-object-store.ts';
import { Faults } from '../../support/faults.ts';

const store = new MemoryObjectStore('s3://lake', { nowMs: () => 1_700_000_000_000 });

describeObjectStore('memory', () => store, { pagingObjects: 1200 });

// Without a fault the double that injects them behaves as the store it stands before.
const doubled = new FaultyObjectStore(
  new MemoryObjectStore('s3://lake', { nowMs: () => 1_700_000_000_000 }),
  new Faults(null, 'before'),
);

describeObjectStore('faulty, without faults', () => doubled, { pagingObjects: 50 });
