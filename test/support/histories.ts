import type { Entry } from '../../proof/history.ts';
import type { EventFact, LogFacts, ReceiptFact } from '../../proof/log-facts.ts';

let made = 0;
/** A unique id. */
const fresh = (kind: string) => `${kind}-${++made}`;

/** An operation, by default done at its first attempt after 10 ms. */
export function entry(of: Partial<Entry>): Entry {
  const { invoked = 1000 } = of;
  return {
    operation: 'case.create',
    actor: 'ann',
    address: '10.0.0.1',
    key: fresh('key'),
    subject: null,
    credential: null,
    invoked,
    answered: invoked + 10,
    lost: 0,
    outcome: 'done',
    status: 201,
    events: [],
    ...of,
  };
}

export function event(of: Partial<EventFact>): EventFact {
  const position = ++made;
  return {
    position,
    id: fresh('event'),
    owner: 'ann',
    stream: fresh('stream'),
    version: 1,
    type: 'CaseOpened',
    data: {},
    actor: 'member',
    at: 1005,
    ...of,
  };
}

export function receiptOf(
  { key, operation, actor }: Entry,
  events: readonly EventFact[],
  more: Partial<ReceiptFact> = {},
): ReceiptFact {
  return {
    owner: actor,
    space: 'api',
    key: key ?? '',
    operation,
    events: events.map(({ id }) => id),
    at: events[0]?.at ?? 1005,
    ...more,
  };
}

export const facts = (of: Partial<LogFacts>): LogFacts => ({
  events: [],
  receipts: [],
  feed: [],
  ...of,
});

/** A valid operation with its receipt and one event. */
export function operation(of: Partial<Entry>, what: Partial<EventFact> = {}) {
  const recorded = event({ owner: of.actor ?? 'ann', ...what });
  const asked = entry({ events: [recorded.id], ...of });
  return { asked, recorded, receipt: receiptOf(asked, [recorded]) };
}
