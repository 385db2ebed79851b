// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/**
 * What is kept with a block by those who look at it, carry a context along with it, or simulate it; see
 * {@link skein.rt.block.Hooks}. The block alone holds it, so it is garbage with the block.
 */
public class Kept {
    /** The context that the block carries, or null. */
    public Object context;
}
