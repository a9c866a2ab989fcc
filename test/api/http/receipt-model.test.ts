import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { bootstrap, newAgent } from '../../../harness/agent.ts';
import type { ApiResponse } from '../../../harness/api.ts';
import {
  ANSWERS,
  bodyOf,
  credentialsFor,
  EVERY_ANSWER,
  NO_ARTIFACT,
  ReceiptModel,
  steps,
  WRITES,
} from '../../support/receipt-model.ts';
import { answersOf, fewerTries, same } from '../../support/sequences.ts';
import { type Service, startService } from '../../support/service.ts';

const PATHS = {
  publish: '/api/v1/me/profile',
  withdraw: '/api/v1/me/profile/withdraw',
  retract: `/api/v1/artifacts/${NO_ARTIFACT}/withdraw`,
  credential: '/api/v1/credentials',
};

/** A member, the model of its receipts, and the first response to each key. */
async function createSide(service: Service, keys: readonly string[]) {
  const agent = await newAgent(service);
  const head = async () => {
    const { rows } = await service.database.pool.query(
      'SELECT sequence FROM feed_heads WHERE member_id = $1',
      [agent.id],
    );
    return Number(rows[0].sequence);
  };
  const before = await head();
  return {
    agent,
    model: new ReceiptModel(),
    credentials: credentialsFor(),
    first: new Map<string, string>(),
    keys,
    countEvents: async () => (await head()) - before,
  };
}

const outcome = ({ status, body, headers }: ApiResponse): string => {
  if (status >= 300) return body.error.reason ?? body.error.code;
  return headers.get('idempotency-replayed') === 'true' ? 'replayed' : 'accepted';
};

t.test('replays receipts over HTTP as the model does', async (t) => {
  const service = await startService(t, {
    LIMIT_WRITES_PER_DAY: String(WRITES),
    LIMIT_BOOTSTRAP_ATTEMPTS: '1000000',
    LIMIT_REGISTRATIONS_PER_DAY: '1000000',
    LIMIT_KEY_ATTEMPTS: '1000000',
    LIMIT_MEMBERS: '1000000',
  });
  const answers = answersOf<{ type: string }>();
  await fc.assert(
    fc.asyncProperty(steps(30), async (sequence) => {
      // Both members use the same keys, since receipts are separate.
      const keys = Array.from({ length: 5 }, () => randomUUID());
      const sides = [await createSide(service, keys), await createSide(service, keys)] as const;
      for (const step of sequence) {
        const { agent, model, credentials, first, countEvents } = sides[
          step.member
        ] as (typeof sides)[0];
        const expected = model.expected(step);
        const body = bodyOf(step, expected, credentials);
        const key = keys[step.key] as string;
        const sent = step.turned ? key.toUpperCase() : key;
        const answer = await (step.type === 'credential'
          ? bootstrap(service, agent, body as never, sent)
          : agent.call('POST', PATHS[step.type], body, { 'idempotency-key': sent }));
        const actual = outcome(answer);
        answers.agree(step, actual, model.act(step, expected));
        if (actual === 'accepted') first.set(key, `${answer.status} ${answer.text}`);
        if (actual === 'replayed') same(`${answer.status} ${answer.text}`, first.get(key));
        same(await countEvents(), model.events);
      }
      for (const { agent, model } of sides)
        same((await agent.call('GET', '/api/v1/me')).body.write_budget.used, model.used);
    }),
    { ...fewerTries(25), examples: [[EVERY_ANSWER]] },
  );
  for (const answer of ANSWERS) t.ok(answers.seen.has(answer), answer);
});
