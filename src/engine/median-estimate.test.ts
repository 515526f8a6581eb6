import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MedianEstimate } from './median-estimate.ts';

describe('a running median', () => {
  it('is 0 before the first sample and not carried away by one that hung', () => {
    const estimate = new MedianEstimate();
    assert.equal(estimate.value, 0);
    for (const sample of [30, 5_000, 40, 35, 36]) estimate.sampled(sample);
    assert.equal(estimate.value, 36);
  });

  it('starts with the lower of two: the first request may have gone over a cold connection', () => {
    const estimate = new MedianEstimate();
    for (const sample of [500, 30]) estimate.sampled(sample);
    assert.equal(estimate.value, 30);
  });

  it('follows a store that has become slower within 16 samples', () => {
    const estimate = new MedianEstimate();
    for (let n = 0; n < 1_000; n++) estimate.sampled(30);
    for (let n = 0; n < 15; n++) estimate.sampled(90);
    assert.equal(estimate.value, 30);
    estimate.sampled(90);
    assert.equal(estimate.value, 90);
  });
});
