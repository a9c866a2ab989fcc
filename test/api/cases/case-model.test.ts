import fc from 'fast-check';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase, pass } from '../../../harness/cases.ts';
import { CaseModel, MEMBER_COUNT, steps } from '../../support/case-model.ts';
import { fewerTries } from '../../support/sequences.ts';
import { startService } from '../../support/service.ts';

t.test('answers random commands as the model does and replays to the same state', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '100000' });
  const agents = await Promise.all(Array.from({ length: MEMBER_COUNT }, () => newAgent(service)));
  const members = agents.map(createCaseCommands);
  const ids = members.map(({ agent }) => agent.id);

  await fc.assert(
    fc.asyncProperty(steps(12, 60), async (sequence) => {
      const id = await createOpenCase(members[0] as (typeof members)[0]);
      const model = new CaseModel();
      let second = 0;
      for (const { member, act, wait, stale } of sequence) {
        second += wait;
        if (wait > 0) await pass(service, id, wait);
        const expectedVersion = model.versionAt(second) + stale;
        // A version below 1 is invalid input, which the model does not cover.
        if (expectedVersion < 1) continue;
        const expected = model.act({ member, act }, expectedVersion, second);
        const who = members[member] as (typeof members)[0];
        const answer = await (act.type === 'claim'
          ? who.claim(id, expectedVersion, { lease_seconds: act.seconds })
          : act.type === 'review'
            ? who.review(id, expectedVersion, act.decision)
            : who[act.type](id, expectedVersion));
        const reason = answer.status < 300 ? 'accepted' : answer.body.error.reason;
        if (reason !== expected) throw new Error(`${act.type}: ${reason}, not ${expected}`);
        const read = await service.call('GET', `/api/v1/cases/${id}`);
        const { state, version, claim } = read.body.case;
        const holder = claim ? ids.indexOf(claim.member_id) : null;
        const modelCase = model.shownAt(second);
        if (JSON.stringify({ state, version, holder }) !== JSON.stringify(modelCase))
          throw new Error(`${read.text}, where the model has ${JSON.stringify(modelCase)}`);
      }
    }),
    fewerTries(40),
  );
});
