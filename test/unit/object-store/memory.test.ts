import { MemoryObjectStore } from '../../../src/object-store/memory.ts';
import { describeObjectStore } from '../../conformance/object-store.suite.ts';

const store = new MemoryObjectStore('s3://lake', { nowMs: () => 1_700_000_000_000 });

describeObjectStore('memory', () => store, { pagingObjects: 1200 });
