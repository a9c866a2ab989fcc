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

/** A removal, identified by the version of the record's stream after the removal. */
export const RemovalToTell = z.strictObject({
  subject: z.strictObject({ type: z.enum(RECORD_TYPES), id: z.uuid() }),
  version: z.int(),
});

interface Parts {
  store: EventStore;
  config: Pick<Config, 'undoWindowSeconds'>;
}

/** Notifies the members concerned of a removal that is still in force; returns whether it did. */
export async function tellRemoval(
  { store, config }: Parts,
  { subject: { type, id }, version }: z.infer<typeof RemovalToTell>,
): Promise<boolean> {
  const subject = subjectOf(type);
  const plan = tellRemovalPlan(subject, id, version, config.undoWindowSeconds);
  return (await store.execute(plan)) === true;
}

/** Notifies the reporters of records that were withdrawn since; returns how many records. */
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
