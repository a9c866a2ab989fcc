import t from 'tap';
import { checkAppearance, NEEDS_BROWSER, visit } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

/** Figures of 60 weeks, with the numbers of a busy service. */
const fillWeeks = (service: Service) =>
  service.tamper(`INSERT INTO moderation_weeks (week, subject, outcome, policy, age, count)
    SELECT date_trunc('week', now())::date - 7 * week, subject, outcome, policy, age, week * 17 % 900
    FROM generate_series(1, 60) week, (VALUES ('note', 'approved', '', 540), ('note', 'approved', '', 7200),
      ('note', 'rejected', 'spam', 61), ('note', 'rejected', 'abuse', 99000),
      ('record', 'removed', 'illegal', 360), ('note', 'kept', '', -1), ('note', 'appealed', '', -1),
      ('note', 'granted', '', -1)) of (subject, outcome, policy, age)`);

t.test('looks right and is accessible with no week and with 60 weeks', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const { page } = await visit(t, `${service.baseUrl}/about`);
  await page.getByRole('contentinfo').getByRole('link', { name: 'Transparency' }).click();
  await page.getByText('No week with a decision is over yet.').waitFor();
  await checkAppearance(t, page, 'transparency-empty');

  await fillWeeks(service);
  await page.reload();
  t.equal(await page.getByRole('row').count(), 3 * 51, 'three tables of 50 weeks');
  await checkAppearance(t, page, 'transparency');
  await page.setViewportSize({ width: 320, height: 640 });
  t.ok(
    await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
    'only the tables scroll sideways',
  );

  await page.getByRole('link', { name: 'Earlier weeks' }).click();
  t.equal(await page.getByRole('row').count(), 3 * 11, 'and of the ten before');
  t.match(await page.getByRole('link', { name: 'CSV' }).getAttribute('href'), /\.csv\?cursor=/);
});
