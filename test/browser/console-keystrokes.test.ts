import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { NEEDS_BROWSER } from '../support/browser.ts';
import { countNotesByState, openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';
import { startWorker } from '../support/worker.ts';

const NOTES = 60;
/** 40 approvals with one key and 20 rejections with two: 1.33 a decision. */
const MAX_KEYS = 80;
const KEYS = { SERVER_KEYS: `1:${'a'.repeat(64)}` };

const isRejected = (number: number): boolean => number % 3 === 0;

/** Texts of one line, of several lines, and with links, which have findings. */
const textOf = (number: number): string => {
  const kinds = ['Hello. ', 'A sentence that one reads to its end. ', 'See https://a.example ', ''];
  return `${kinds[number % kinds.length]?.repeat(1 + (number % 9))}Number ${number}.`;
};

/** Counts keys, and records where the text of a note moves while it is shown. */
const WATCH = `
  window.keysPressed = 0;
  window.shifts = [];
  addEventListener('keydown', ({ isTrusted }) => { if (isTrusted) keysPressed++; }, true);
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries())
      for (const { node, previousRect, currentRect } of sources) {
        const text = document.querySelector('.note .text');
        if (!node?.isConnected || !text) continue;
        if (node.contains(text) || text.contains(node))
          shifts.push([text.textContent, previousRect.y, currentRect.y].join(' '));
      }
  }).observe({ type: 'layout-shift' });`;

t.test('works a queue with 1.33 keys a decision and a still text', NEEDS_BROWSER, async (t) => {
  const service = await startService(t, KEYS);
  const ann = await addModerator(service, 'Ann');
  const parent = await submit(service, { name: 'Ines', message: 'Who has seen the harbour?' });
  await decide(ann, parent.id, 'approve');
  for (let number = 1; number <= NOTES; number++)
    await submit(service, {
      name: 'Ada '.repeat(number % 5),
      message: textOf(number),
      ...(number % 7 === 0 ? { parent_id: parent.id } : {}),
    });
  await startWorker(t, {
    DATABASE_URL: service.database.url,
    BASE_URL: service.baseUrl,
    ...KEYS,
  });
  const { page } = await openConsole(t, service, ann, { first: WATCH });
  const refusals: string[] = [];
  page.on('response', (response) => {
    // A busy machine may answer 503, after which the console repeats the request.
    if (response.status() >= 400 && response.status() !== 503)
      refusals.push(`${response.status()} ${response.url()}`);
  });
  const keysPressed = async () => Number(await page.evaluate('keysPressed'));
  const keysBefore = await keysPressed();

  for (let number = 1; number <= NOTES; number++) {
    await page.locator('.note .text', { hasText: `Number ${number}.` }).waitFor();
    // After signing in, the title of the list has the focus.
    if (number > 1) await page.locator('.row.here .row-main:focus').waitFor();
    // A moderator reads some notes until their thread and history are there.
    if (number % 4 === 0) await page.locator('.history li').first().waitFor();
    if (isRejected(number)) {
      await page.keyboard.press('r');
      await page.locator('.panel:focus').waitFor();
      await page.keyboard.press(String(1 + (number % 4)));
    } else await page.keyboard.press('a');
  }
  await page.getByText('The queue is clear.').waitFor();

  t.same(await countNotesByState(service), { approved: 41, rejected: 20 });
  t.ok((await keysPressed()) - keysBefore <= MAX_KEYS, 'at most 80 keys for 60 decisions');
  t.same(await page.evaluate('shifts'), [], 'the text of a note never moved');
  t.same(refusals, [], 'the service refused nothing');
});
