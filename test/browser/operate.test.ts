import type { Page } from 'playwright-core';
import t from 'tap';
import { submit } from '../../harness/moderation.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { checkAppearance, NEEDS_BROWSER, visit } from '../support/browser.ts';
import { serveOperate, untilInTime } from '../support/operate.ts';
import { sealNow } from '../support/sealed.ts';
import { startService } from '../support/service.ts';
import { createWitnessKey } from '../support/witness.ts';

/** Loads the page again until it shows every section. */
const untilShown = (page: Page) =>
  untilInTime(async () => {
    await page.reload();
    return page.content();
  });

t.test(
  'is readable and accessible, wide and on a phone, without a script',
  NEEDS_BROWSER,
  async (t) => {
    const { vkey } = createWitnessKey('witness.example/with-a-long-name-of-its-operator', 1);
    const service = await startService(t, {
      SEAL_KEY: '5a'.repeat(32),
      LOG_WITNESSES: `${vkey} http://127.0.0.1:1/w`,
    });
    await submit(service);
    await sealNow(service.core);
    await service.database.pool.query(
      `INSERT INTO pgboss.job (name, data, source_name) VALUES ('dead-letters', '{}', 'screen-note')`,
    );
    const { base } = await serveOperate(t, service);
    const { page } = await visit(t, `${base}/operate`, { javaScriptEnabled: false });
    await untilShown(page);
    await page.getByRole('heading', { name: 'To look at' }).waitFor();
    await page.getByRole('link', { name: 'Jobs failed for the last time: 1.' }).click();
    t.match(page.url(), /#jobs$/);

    const scripted = (await visit(t, `${base}/operate`)).page;
    await untilShown(scripted);
    await checkAppearance(t, scripted, 'operate');
    for (const width of [320, 360]) {
      await scripted.setViewportSize({ width, height: 640 });
      t.ok(
        await scripted.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        `only tables scroll sideways at ${width}`,
      );
    }
  },
);

t.test('is accessible while PostgreSQL is away', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const pool = createPool('postgres://nobody@127.0.0.1:1/none', 'test', 1);
  t.teardown(() => pool.end());
  const { base } = await serveOperate(t, service, { pool });
  const { page } = await visit(t, `${base}/operate`);
  await page.getByRole('link', { name: 'PostgreSQL does not answer.' }).waitFor();
  await checkAppearance(t, page, 'operate-away');
});
