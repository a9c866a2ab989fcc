import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { flattenReads, shapeRows } from '../../platform/eventstore/load.ts';
import { type Plan, resolveAnswer } from '../../platform/eventstore/plan.ts';
import type { Receipt } from '../../platform/eventstore/receipts.ts';
import { isRefusal } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';

/** The time of a fake store. */
const NOW = new Date(0);

/** A store that keeps receipts and records what each command locks and writes. */
export function createFakeStore(rowsOf: (read: Sql) => object[] | undefined = () => undefined) {
  const receipts = new Map<string, Receipt>();
  const written: object[] = [];
  const locked: unknown[] = [];
  const read = (statement: Sql) => {
    const receipt = receipts.get(String(statement.values));
    const stored = receipt && {
      ...receipt,
      body_hash: receipt.bodyHash,
      http_status: receipt.httpStatus,
    };
    return rowsOf(statement) ?? (stored ? [stored] : []);
  };
  const store = {
    async execute({ lock, load, decide }: Plan<unknown, string>) {
      locked.push(lock);
      const rows = shapeRows(load, flattenReads(load).map(read));
      const decision = decide({ rows, now: NOW, locked: [] });
      if (isRefusal(decision)) return decision;
      if ('unchanged' in decision) return decision.unchanged;
      const events = decision.appends.flatMap(({ events }) =>
        events.map((event, index) => ({ ...event, event_id: `event ${index}` })),
      ) as unknown as RecordedEvent[];
      for (const one of [decision.receipt?.(events) ?? []].flat())
        receipts.set(String([one.owner.id, one.space, one.key]), one);
      written.push({ appends: decision.appends, rows: decision.rows, jobs: decision.jobs });
      return resolveAnswer(decision, events);
    },
  } as unknown as EventStore;
  return { store, receipts, written, locked };
}
