import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { newestPosition } from '../platform/eventstore/subscription.ts';
import { addressConfig, withConnection } from '../platform/postgres/connection.ts';
import { receiversOf } from '../services/notices/messages.ts';
import { type ReceiverRow, receiverStates, skip } from '../services/notices/receiver-state.ts';

const USAGE = `Usage:
  npm run notices -- list
  npm run notices -- skip NUMBER

list prints the receivers of NOTIFY_URLS: number and host, failed attempts in a row, since when, and the
last failure. skip gives up what waits for one of them, which continues with what happens from now on.
`;

const {
  positionals: [command, number],
} = processArguments(USAGE, {}, [1, 2], ({ positionals: [name, which] }) => {
  if (name !== 'list' && name !== 'skip') throw new ArgumentError(`Unknown command '${name}'.`);
  if ((name === 'skip') !== (which !== undefined && /^[1-9]\d{0,2}$/.test(which)))
    throw new ArgumentError('skip takes the number of a receiver, as list prints it.');
});

const config = configOrExit();
const receivers = receiversOf(config.notifyUrls);
try {
  await withConnection(
    addressConfig(config.databaseDirectUrl ?? databaseUrl(config), 'service notices'),
    async (client) => {
      if (command === 'list') {
        if (receivers.length === 0) process.stdout.write('NOTIFY_URLS has no address\n');
        const keys = receivers.map(({ key }) => key);
        const { rows } = await client.query<ReceiverRow>(receiverStates(keys));
        for (const { key, name } of receivers) {
          const row = rows.find(({ receiver }) => receiver === key);
          const since = row?.failed_since?.toISOString() ?? '';
          process.stdout.write(
            `${[name, row?.attempts ?? 0, since, row?.failure ?? ''].join('\t')}\n`,
          );
        }
        return;
      }
      const receiver = receivers[Number(number) - 1];
      if (!receiver) throw new Error(`NOTIFY_URLS has ${receivers.length} addresses`);
      const { rows } = await client.query<{ position: number }>(newestPosition());
      await client.query(skip(receiver.key, Number(rows[0]?.position ?? 0)));
      process.stdout.write(`${receiver.name} continues with what happens from now on\n`);
    },
  );
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
