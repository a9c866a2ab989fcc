import t from 'tap';
import { addModerator, submit } from '../../harness/moderation.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { startService } from '../support/service.ts';

t.test('shows how many notes waited hour by hour, and leads to them', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await submit(service);
  const second = await submit(service);
  const deferred = await ann.post(`notes/${second.id}/decisions`, {
    action: 'defer',
    expected_version: 1,
  });
  t.equal(deferred.status, 201, deferred.text);
  const { page } = await openConsole(t, service, ann);
  const stats = page.getByRole('link', { name: 'Stats' });
  await stats.click();
  const figure = page.locator('figure.waiting');
  await figure.getByText('Not counted yet: a worker counts every hour what waits.').waitFor();
  await checkAppearance(t, page, 'moderation-waiting-uncounted');

  await service.database.pool.query(
    `INSERT INTO queue_hours (hour, waiting, oldest_seconds)
     SELECT date_trunc('hour', now(), 'UTC') - n * interval '1 hour', 20 + n % 24, n * 60
     FROM generate_series(0, 160) n WHERE n NOT BETWEEN 50 AND 60 AND n NOT IN (90, 92)`,
  );
  await page.reload();
  const line = figure.getByRole('img');
  await line.waitFor();
  const words = (await line.getAttribute('aria-label')) ?? '';
  t.match(words, /From 20 \(.*\) to 43 \(.*\)\. 13 hours were not counted: no worker ran\./);
  await figure
    .getByText(/13 hours were not counted: no worker ran\./)
    .first()
    .waitFor();
  t.equal(await figure.locator('.line path').count(), 3, 'a line for each time without a gap');
  t.equal(await figure.locator('.line circle').count(), 1, 'and a dot for a single count');
  await figure.getByText('as a table').press('Enter');
  const days = figure.locator('tbody tr');
  await untilEqual(t, async () => (await days.count()) >= 7, true);
  await checkAppearance(t, page, 'moderation-waiting');

  const now = figure.getByRole('list', { name: 'Waiting now' });
  t.same(await now.getByRole('link').allTextContents(), ['1 to do', '0 escalated', '1 deferred']);
  await now.getByRole('link', { name: '1 deferred' }).press('Enter');
  await page.locator('.row').waitFor();
  t.equal(new URL(page.url()).pathname, '/moderation/deferred');
  await stats.click();
  await now.getByRole('link', { name: '1 to do' }).click();
  await page.locator('.row').waitFor();
  t.equal(new URL(page.url()).pathname, '/moderation');
});
