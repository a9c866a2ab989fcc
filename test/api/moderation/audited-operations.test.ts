import t from 'tap';
import type { Api } from '../../../harness/api.ts';
import { addModerator, atDesk, type Moderator } from '../../../harness/moderation.ts';
import { createTraffic } from '../../../harness/traffic.ts';
import { disablings } from '../../../harness/traffic-disabling.ts';
import type { Operation } from '../../../harness/traffic-operation.ts';
import { startService } from '../../support/service.ts';

/** Writes of moderators that no audit has, and why. */
const NOT_AUDITED: readonly [RegExp, string][] = [
  [/\/claims\b/, 'a claim is a lease of minutes; only one that a lead takes over is in the audit'],
  [/\/views\b/, 'a saved view is a setting of its moderator'],
  [/\/rewind\b/, 'the traffic sends a preview, which writes nothing'],
];

const WRITE = /^(POST|PUT|DELETE) \/api\/moderation\//;

t.test('has in the audit what every operation of moderators writes', async (t) => {
  const seen = new Set<string>();
  const checkAll = async (
    settings: Record<string, string>,
    make: (api: Api, desk: Record<'moderator' | 'lead', Moderator>) => Promise<Operation[]>,
  ) => {
    const service = await startService(t, { LIMIT_BOOTSTRAP_ATTEMPTS: '100000', ...settings });
    const lead = atDesk(service, await addModerator(service, 'Lea', 'lead'));
    const moderator = atDesk(service, await addModerator(service, 'Ann'));
    const newest = async () =>
      (await lead.get('audit?order=newest&limit=1')).body.entries[0].position;
    for (const { name, prepare } of await make(service, { moderator, lead })) {
      if (!WRITE.test(name)) continue;
      seen.add(name.split(',')[0] ?? '');
      const send = await prepare();
      const before = await newest();
      const { status, text } = await send();
      t.ok(status < 400, `${name}: ${text}`);
      const isAudited = (await newest()) > before;
      t.equal(isAudited, !NOT_AUDITED.some(([operation]) => operation.test(name)), name);
    }
    return service;
  };
  await checkAll({ UNDO_WINDOW_SECONDS: '0' }, async (api, { lead }) => disablings({ api, lead }));
  const { operations } = await checkAll({}, createTraffic);
  const writes = [...operations.values()]
    .map(({ route }) => `${route.method} ${route.path}`)
    .filter((name) => WRITE.test(name));
  const shapeOf = (name: string) => name.replace(/:\w+/g, ':');
  const sent = new Set([...seen].map(shapeOf));
  t.same(
    writes.filter((name) => !sent.has(shapeOf(name))),
    [],
    'each of them was sent',
  );
});
