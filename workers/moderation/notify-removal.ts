import { z } from 'zod';
import type { Config } from '../../platform/config.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { query } from '../../platform/postgres/query.ts';
import { withdrawnReported } from '../../projections/publications/record-reports.ts';
import { subjects } from '../../services/features.ts';
import { RECORD_TYPES } from '../../services/publications/record-type.ts';
import type { SubjectId } from '../../services/reports/reports.ts';
import { tellRemovalPlan, tellWithdrawalPlan } from '../../services/reports/resolve.ts';
import { inBatches } from '../batches.ts';

/** A removal, by the version of the record's stream with it. */
export const RemovalToTell = z.strictObject({
  subject: z.strictObject({ type: z.enum(RECORD_TYPES), id: z.uuid() }),
  version: z.int(),
});

interface Parts {
  store: EventStore;
  config: Pick<Config, 'undoWindowSeconds'>;
}

/** Tells those concerned of a removal that still stands; answers whether it told. */
export async function tellRemoval(
  { store, config }: Parts,
  { subject: { type, id }, version }: z.infer<typeof RemovalToTell>,
): Promise<boolean> {
  const subject = subjectOf(type);
  const plan = tellRemovalPlan(subject, id, version, config.undoWindowSeconds);
  return (await store.execute(plan)) === true;
}

/** Tells whoever reported a record that was withdrawn since; answers of how many records. */
export function settleReports({ store }: Pick<Parts, 'store'>): Promise<number> {
  return inBatches(
    (limit) => query(store.pool, withdrawnReported(limit)),
    async ({ type, id }) => (await store.execute(tellWithdrawalPlan(subjectOf(type), id))) === true,
  );
}

function subjectOf(type: SubjectId['type']) {
  const subject = subjects.find((one) => one.type === type);
  if (!subject) throw new Error(`no subject ${type}`);
  return subject;
}
