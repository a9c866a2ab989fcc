import t, { type Test } from 'tap';
import type { Api } from '../../harness/api.ts';
import { addModerator, atDesk, type Moderator } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';
import { createTraffic } from '../../harness/traffic.ts';
import { disablings } from '../../harness/traffic-disabling.ts';
import type { Operation } from '../../harness/traffic-operation.ts';
import { passkeys } from '../../harness/traffic-passkeys.ts';
import { startService } from '../support/service.ts';

const PLENTY = '100000';

type Desk = Record<'moderator' | 'lead', Moderator>;

/** Operations that the traffic does not send, and why. */
const LEFT_OUT: readonly [RegExp, string][] = [
  [/^documents\.|^a2a\.card$|^operations\.livez$/, 'the same bytes whatever the database holds'],
  [/^pages\.(moderation|script$|style$)/, 'files of the build'],
  [/^pages\.guestbook_moved$/, 'a redirect without a look at the database'],
  [/^log\./, 'a row by its key, if the log is sealed'],
  [/^moderation\.stream$/, 'open meanwhile in the benchmark of growth'],
];

/** Sends each operation once to a service; adds their methods and paths to `sent`. */
async function sendAll(
  t: Test,
  sent: Set<string>,
  settings: Record<string, string>,
  make: (api: Api, desk: Desk, origin: string) => Operation[] | Promise<Operation[]>,
) {
  const service = await startService(t, {
    LIMIT_WRITES_PER_DAY: PLENTY,
    LIMIT_BOOTSTRAP_ATTEMPTS: PLENTY,
    LIMIT_REGISTRATIONS_PER_DAY: PLENTY,
    LIMIT_MEMBERS: PLENTY,
    ...settings,
  });
  let measured = false;
  const recording: Api = {
    call(method, path, options) {
      if (measured) sent.add(`${method} ${path.split('?')[0]}`);
      return patient(service).call(method, path, options);
    },
  };
  const desk = {
    moderator: atDesk(recording, await addModerator(service, 'Ann')),
    lead: atDesk(recording, await addModerator(service, 'Lea', 'lead')),
  };
  for (const { name, prepare } of await make(recording, desk, service.baseUrl)) {
    measured = false;
    const send = await prepare();
    measured = true;
    const { status, text } = await send();
    t.ok(status < 400, `${name}: ${status} ${status < 400 ? '' : text}`);
  }
  return service;
}

t.test('the traffic of benchmarks sends every operation of the route table', async (t) => {
  const sent = new Set<string>();
  await sendAll(t, sent, { UNDO_WINDOW_SECONDS: '0' }, (api, { lead }) =>
    disablings({ api, lead }),
  );
  await sendAll(t, sent, { TEST_HOST: 'localhost' }, (api, _desk, origin) =>
    passkeys({ api, origin }),
  );
  const service = await sendAll(t, sent, {}, (api, desk) => createTraffic(api, desk));
  const unsent = [...service.operations.values()].filter(({ route }) => {
    const path = new RegExp(`^${route.method} ${route.path.replace(/:[a-z_]+/g, '[^/]+')}$`);
    return ![...sent].some((request) => path.test(request));
  });
  t.same(
    unsent.map(({ id }) => id).filter((id) => !LEFT_OUT.some(([ids]) => ids.test(id))),
    [],
  );
  for (const [ids, why] of LEFT_OUT)
    t.ok(
      unsent.some(({ id }) => ids.test(id)),
      `still left out: ${why}`,
    );
});
