// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/**
 * Random numbers that are the same on every machine. They are integers, because the last bit of a logarithm depends on
 * the machine.
 *
 * <p>The generator is SplitMix64 (Steele, Lea, Flood 2014). Not safe for use by two threads at once.
 */
final class Dice {
    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    private long state;

    Dice(long seed) {
        state = seed;
    }

    /** Spreads the bits of {@code n}: a fixed random-looking number for each n. */
    static long mix(long n) {
        n = (n ^ (n >>> 30)) * 0xBF58476D1CE4E5B9L;
        n = (n ^ (n >>> 27)) * 0x94D049BB133111EBL;
        return n ^ (n >>> 31);
    }

    /** Returns any long. */
    long any() {
        return mix(state += GAMMA);
    }

    /** Returns a number from 0 to {@code n - 1}, all equally likely (except for a bias of n / 2^32). */
    int below(int n) {
        return (int) ((any() >>> 32) * n >>> 32);
    }

    /**
     * Returns a rank from 0 to 2^{@code octaves} - 2, low ones more likely: about as by Zipf's law with exponent 1, but
     * in steps. Each octave [2^k - 1, 2^(k+1) - 2] is as likely as any other, and so is each rank within one.
     */
    int rank(int octaves) {
        long any = any();
        int octave = (int) ((any >>> 32) * octaves >>> 32);
        return (1 << octave) - 1 + ((int) any & ((1 << octave) - 1));
    }
}
