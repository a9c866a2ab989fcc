import { createContext } from 'preact';
import type { SiteInfo } from '../../services/pages/site/view.ts';

/** The operator's words and what the instance offers, for every part of a page. */
export const Site = createContext<SiteInfo>({
  name: '',
  notice: '',
  about: '',
  guestbooks: { service: '', observatory: '', 'two-clerks': '' },
  passkeys: false,
});
