/** Settings for parts of an engine that a test puts together by itself: no lingering, no cooldown, LISTs believed. */
import { queueLimits } from '../../src/core/limits.ts';
import { defaultTiming, type EngineSettings } from '../../src/engine/settings.ts';

export function engineSettings(tuning: Partial<EngineSettings> = {}): EngineSettings {
  return {
    accountId: '',
    region: '',
    lingerMillis: 0,
    cooldowns: false,
    conditionalDelete: true,
    listTags: true,
    readPriceShare: 0.08,
    listPriceInReads: 0.5,
    listPageKeys: 1_000,
    timing: defaultTiming,
    limits: queueLimits,
    ...tuning,
  };
}
