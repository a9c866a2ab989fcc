import { parseArguments } from '../../platform/command-line/arguments.ts';
import { createApiClient } from './api.ts';
import { age, say } from './terminal.ts';

type Spread = { p50: number; p95: number; max: number } | null;

export async function stats(args: string[]): Promise<void> {
  const { values } = parseArguments(args, { from: { type: 'string' }, to: { type: 'string' } });
  const api = await createApiClient();
  const stats = await api.need('GET', `stats?${new URLSearchParams(Object.entries(values))}`);
  const { depth } = stats;
  const oldest =
    depth.oldest_age_seconds === null ? '' : `, oldest ${age(depth.oldest_age_seconds)}`;
  say(`From ${stats.from} to ${stats.to}`);
  say(`Waiting now   ${depth.pending} (${depth.past_due} for more than a day${oldest})`);
  say(`Reported now  ${depth.reported}`);
  say(`Arrived       ${stats.arrivals}`);
  say(
    `Decided       ${stats.decisions} (${stats.approved} approved, ${stats.rejected} rejected, ` +
      `${stats.removed} removed)`,
  );
  say(`Overturned    ${stats.overturned}${percent(stats.overturn_rate)}`);
  say(`Age           ${times(stats.age_seconds)}`);
  say(`Handling      ${times(stats.handling_seconds)}`);
  for (const { code, flagged, confirmed, precision } of stats.findings)
    say(`Finding       ${code}: ${confirmed} of ${flagged} not public${percent(precision)}`);
  for (const { moderator, decisions, overturned, handling_seconds } of stats.moderators) {
    const name = moderator ? `${moderator.name} (${moderator.role})` : 'the service';
    say(
      `By            ${name}: ${decisions}, ${overturned} overturned, ${times(handling_seconds)}`,
    );
  }
}

const percent = (rate: number | null) => (rate === null ? '' : ` (${(rate * 100).toFixed(1)} %)`);

const times = (spread: Spread) =>
  spread
    ? `p50 ${age(spread.p50)}, p95 ${age(spread.p95)}, max ${age(spread.max)}`
    : 'nothing measured';
