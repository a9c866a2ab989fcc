import t from 'tap';
import { WEIGHTS } from '../../domain/screening/rules.ts';
import { addModerator } from '../../harness/moderation.ts';
import { backtest } from '../../services/screening/backtest.ts';
import { checkAppearance, NEEDS_BROWSER } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { screenAndDecide } from '../support/judged-notes.ts';
import { startService } from '../support/service.ts';

t.test('shows how the rules did, summed over pages', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await screenAndDecide(service, ann);
  const { page } = await openConsole(t, service, ann);
  await page.getByRole('link', { name: 'Policies' }).click();

  // Pages of two notes, of which the third fails once.
  let requests = 0;
  await page.route('**/policies/backtest*', (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '2');
    return ++requests === 3
      ? route.fulfill({ status: 409, json: { error: { code: 'conflict', message: 'No.' } } })
      : route.continue({ url: url.href });
  });
  const section = page.getByRole('region', { name: 'How the rules did' });
  await section.getByRole('button', { name: 'Judge the past' }).press('Enter');
  await section.getByRole('alert').filter({ hasText: 'No.' }).waitFor();
  await section.getByText('4 notes judged, not all').waitFor();
  await section.getByRole('button', { name: 'Continue' }).press('Enter');
  await section.getByText('7 notes judged', { exact: true }).waitFor();

  const rows = section.getByRole('region', { name: 'Rules', exact: true }).getByRole('row');
  const shown = async (name: string) =>
    (
      await rows
        .filter({ has: page.getByRole('rowheader', { name, exact: true }) })
        .getByRole('cell')
        .allTextContents()
    ).map(Number);
  const { recorded, judged } = await backtest(
    service.core.pool,
    WEIGHTS,
    { from: null, to: null },
    () => undefined,
  );
  const both = [recorded, judged];
  t.ok(judged.bands.likely_spam.refused > 0);
  t.same(
    await shown('Caught'),
    both.map(({ bands }) => bands.likely_spam.refused),
  );
  t.same(
    await shown('Wrongly caught'),
    both.map(({ bands }) => bands.likely_spam.public),
  );
  t.same(
    await shown('Missed'),
    both.map(({ bands }) => bands.look.refused + bands.clear.refused),
  );
  await section.scrollIntoViewIfNeeded();
  await checkAppearance(t, page, 'backtest');

  // Stopped while the first page is on its way, it shows that page.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/policies/backtest*', async (route) => {
    await released;
    await route.fallback();
  });
  await section.getByRole('button', { name: 'Judge the past' }).press('Enter');
  await section.getByRole('button', { name: 'Stop' }).press('Enter');
  release();
  await section.getByText('2 notes judged, not all').waitFor();
});
