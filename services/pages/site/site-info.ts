import type { Config } from '../../../platform/config.ts';
import { relyingParty } from '../../passkeys/relying-party.ts';
import { sandboxLine } from '../../sandbox-notice.ts';
import type { SiteInfo } from './view.ts';

/** What the operator says of the site and its guestbooks. */
export const siteInfo = (config: Config): SiteInfo => ({
  name: config.siteName,
  notice: sandboxLine(config),
  about: config.siteAbout,
  guestbooks: {
    service: config.siteAboutService,
    observatory: config.siteAboutObservatory,
    'two-clerks': config.siteAboutTwoClerks,
  },
  passkeys: relyingParty(config.baseUrl) !== undefined,
});
