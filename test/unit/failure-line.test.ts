import t from 'tap';
import { failureLine } from '../../platform/command-line/failure.ts';

t.test('says where to look if PostgreSQL ended the connection of a command', async (t) => {
  const lost =
    'the connection to PostgreSQL was lost; its log, or the output of npm start, says why';
  for (const message of [
    'Client has encountered a connection error and is not queryable',
    'Connection terminated unexpectedly',
  ])
    t.equal(failureLine(new Error(message)), `${message}: ${lost}\n`);
  t.equal(failureLine(new Error('Not found')), 'Not found\n');
});
