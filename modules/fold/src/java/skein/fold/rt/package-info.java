// SPDX-License-Identifier: Apache-2.0
/** Files as sources of folds: cut into records, unpacked. */
package skein.fold.rt;
