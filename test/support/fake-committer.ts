import { IcebergError } from '../../src/iceberg/errors.ts';
import type { DataFile } from '../../src/iceberg/spec/data-file.ts';
import { UNPARTITIONED_SPEC } from '../../src/iceberg/spec/partition-spec.ts';
import { UNSORTED_ORDER } from '../../src/iceberg/spec/sort-order.ts';
import type { Schema } from '../../src/iceberg/spec/schema.ts';
import type {
  FlushTargetRpc,
  Outcome,
  SubmitRequest,
  SubmitResult,
  WriteTarget,
} from '../../src/table/protocol.ts';
import { toOutcome } from '../../src/table/protocol.ts';
import { Faults } from './faults.ts';

const SCHEMA: Schema = {
  schemaId: 0,
  fields: [{ id: 1, name: 'id', required: false, type: { type: 'long' } }],
  identifierFieldIds: [],
};

/** What a shard sees of a committer: one table, each flush id once. */
export class FakeCommitter implements FlushTargetRpc {
  /** Null: the table does not exist. */
  tableUuid: string | null = '11111111-1111-4111-8111-111111111111';
  spec = UNPARTITIONED_SPEC;
  readonly committed = new Map<string, { snapshotId: bigint; files: readonly DataFile[] }>();
  faults = new Faults(null, 'before');
  /** Submissions in order, repeats included. */
  readonly submissions: SubmitRequest[] = [];

  async writeTarget(): Promise<Outcome<WriteTarget | null>> {
    return await this.faults.around('writeTarget', () =>
      toOutcome(() =>
        this.tableUuid === null
          ? null
          : {
              tableUuid: this.tableUuid,
              schema: SCHEMA,
              location: 's3://lake/sales.db/orders',
              properties: new Map<string, string>(),
              spec: this.spec,
              sortOrder: UNSORTED_ORDER,
            },
      ),
    );
  }

  async submit(request: SubmitRequest): Promise<Outcome<SubmitResult>> {
    return await this.faults.around('submit', () =>
      toOutcome(() => {
        this.submissions.push(request);
        const known = this.committed.get(request.flushId);
        if (known !== undefined) return { snapshotId: known.snapshotId };
        if (request.tableUuid !== this.tableUuid) {
          throw new IcebergError('invalid', 'table.replaced', 'Another table has that name now');
        }
        const snapshotId = 9_007_199_254_740_993n + BigInt(this.committed.size);
        this.committed.set(request.flushId, { snapshotId, files: request.dataFiles });
        return { snapshotId };
      }),
    );
  }
}
