import t from 'tap';
import { WEIGHTS } from '../../../domain/screening/rules.ts';
import { newAgent } from '../../../harness/agent.ts';
import type { ApiResponse } from '../../../harness/api.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { backtest } from '../../../services/screening/backtest.ts';
import { screenAndDecide } from '../../support/judged-notes.ts';
import { startService } from '../../support/service.ts';

const PATH = '/api/moderation/policies/backtest';

t.test('sums of pages are the figures of the command', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const aud = await addModerator(service, 'Aud', 'auditor');
  await screenAndDecide(service, ann);
  const whole = await backtest(
    service.core.pool,
    WEIGHTS,
    { from: null, to: null },
    () => undefined,
  );
  t.equal(whole.notes, 7);
  const pages: ApiResponse['body'][] = [];
  for (let cursor = ''; ; ) {
    const { status, body, text } = await aud.get(`policies/backtest?limit=3${cursor}`);
    t.equal(status, 200);
    for (const word of ['Ada', 'Thank', 'example.com']) t.notMatch(text, word);
    pages.push(body);
    if (!body.has_more) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  t.same(
    pages.map(({ notes }) => notes),
    [3, 3, 1],
    'a page is bounded',
  );
  const sum = (figure: (page: (typeof pages)[number]) => number) =>
    pages.reduce((all, page) => all + figure(page), 0);
  for (const which of ['recorded', 'judged'] as const) {
    const { bands, waited, handled, restored } = whole[which];
    for (const [band, outcomes] of Object.entries(bands))
      for (const [outcome, count] of Object.entries(outcomes))
        t.equal(
          sum((page) => page[which][band][outcome]),
          count,
          `${which} ${band} ${outcome}`,
        );
    t.ok(waited > 0);
    t.ok(Math.abs(sum((page) => page[which].waited_seconds) - waited) < 1e-6);
    t.ok(Math.abs(sum((page) => page[which].handled_seconds) - handled) < 1e-6);
    t.equal(
      sum((page) => page[which].restored),
      restored,
    );
  }
  for (const [index, [code, figures]] of [...whole.codes].entries())
    for (const [name, count] of Object.entries(figures))
      t.equal(
        sum(({ findings }) => findings[index][name]),
        count,
        `${code} ${name}`,
      );
  t.match(pages[0].findings[0], { code: [...whole.codes.keys()][0] });
});

t.test('is for moderators, and refuses the cursor of another list', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const agent = await newAgent(service);
  t.equal((await service.call('GET', PATH)).status, 401);
  t.equal((await agent.call('GET', PATH)).status, 401);
  t.match((await ann.get('policies/backtest')).body, { notes: 0, next_cursor: null });
  const wrong = await ann.get(`policies/backtest?cursor=${(await otherCursor(ann)) ?? 'x'}`);
  t.match([wrong.status, wrong.body.error.code], [400, 'invalid_cursor']);
  t.equal((await ann.get('policies/backtest?limit=101')).status, 400);
});

const otherCursor = async (ann: Awaited<ReturnType<typeof addModerator>>) =>
  (await ann.get('audit?limit=1')).body.next_cursor;
