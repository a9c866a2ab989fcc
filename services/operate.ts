import type { Logger } from 'pino';
import type { MetricsPage } from '../platform/telemetry/metrics-server.ts';
import { projections } from './features.ts';
import type { OperateDeps } from './operate/context.ts';

/** The tables of all read models. */
const readModels = projections.flatMap(({ tables }) => tables);

/** The page for operators, which is loaded with the first request for it. */
export function operatePage(
  deps: Omit<OperateDeps, 'readModels'>,
  logger: Pick<Logger, 'warn'>,
): MetricsPage {
  let page: Promise<MetricsPage> | undefined;
  return async (request) => {
    page ??= import('./operate/operate-page.ts').then(({ createOperatePage }) =>
      createOperatePage({ ...deps, readModels }, logger),
    );
    return (await page)(request);
  };
}
