import fc from 'fast-check';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createOpenCase, listCases, pass } from '../../../harness/cases.ts';
import { CaseModel, MEMBER_COUNT, steps } from '../../support/case-model.ts';
import { fewerTries } from '../../support/sequences.ts';
import { startService } from '../../support/service.ts';

t.test('random commands over HTTP do what the model says, and the log replays to it', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '100000' });
  const agents = await Promise.all(Array.from({ length: MEMBER_COUNT }, () => newAgent(service)));
  const members = agents.map(listCases);
  const ids = members.map(({ agent }) => agent.id);

  await fc.assert(
    fc.asyncProperty(steps(12, 60), async (sequence) => {
      const id = await createOpenCase(members[0] as (typeof members)[0]);
      const model = new CaseModel();
      let second = 0;
      for (const { member, act, wait, stale } of sequence) {
        second += wait;
        if (wait > 0) await pass(service, id, wait);
        const known = model.versionAt(second) + stale;
        // A version below 1 is bad input, of which the model knows nothing.
        if (known < 1) continue;
        const expected = model.act({ member, act }, known, second);
        const who = members[member] as (typeof members)[0];
        const answer = await (act.type === 'claim'
          ? who.claim(id, known, { lease_seconds: act.seconds })
          : act.type === 'review'
            ? who.review(id, known, act.decision)
            : who[act.type](id, known));
        const reason = answer.status < 300 ? 'accepted' : answer.body.error.reason;
        if (reason !== expected) throw new Error(`${act.type}: ${reason}, not ${expected}`);
        const read = await service.call('GET', `/api/v1/cases/${id}`);
        const { state, version, claim } = read.body.case;
        const holder = claim ? ids.indexOf(claim.member_id) : null;
        const wanted = model.shownAt(second);
        if (JSON.stringify({ state, version, holder }) !== JSON.stringify(wanted))
          throw new Error(`${read.text}, where the model has ${JSON.stringify(wanted)}`);
      }
    }),
    fewerTries(40),
  );
});
