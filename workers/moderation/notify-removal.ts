import type { z } from 'zod';
import type { tellRemoval } from '../../domain/moderation/jobs.ts';
import type { SubjectId } from '../../domain/reports/reports.ts';
import type { Config } from '../../platform/config.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { withdrawnReported } from '../../projections/publications/record-reports.ts';
import { publicationKinds } from '../../services/features.ts';
import { notifyRemovalCommand, notifyWithdrawalCommand } from '../../services/reports/resolve.ts';
import { forEachInBatches } from '../running/batches.ts';

interface Deps {
  store: EventStore;
  config: Pick<Config, 'undoWindowSeconds'>;
}

/** Notifies the members concerned of a removal that is still in force; returns whether it did. */
export function notifyRemoval(
  { store, config }: Deps,
  { subject: { type, id }, version }: z.infer<typeof tellRemoval.schema>,
): Promise<boolean> {
  const subject = subjectOf(type);
  const command = notifyRemovalCommand(subject, id, version, config.undoWindowSeconds);
  return handle(store, SERVICE_ACTOR, command);
}

/** Notifies the reporters of records that were withdrawn since; returns how many records. */
export function settleReports({ store }: Pick<Deps, 'store'>): Promise<number> {
  return forEachInBatches(
    (limit) => query(store.pool, withdrawnReported(limit)),
    ({ type, id }) => handle(store, SERVICE_ACTOR, notifyWithdrawalCommand(subjectOf(type), id)),
  );
}

function subjectOf(type: SubjectId['type']) {
  const subject = publicationKinds.find((one) => one.type === type);
  if (!subject) throw new Error(`no subject ${type}`);
  return subject;
}
