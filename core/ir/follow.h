// SPDX-License-Identifier: Apache-2.0
// Where did it go: what a node of the model file is in each version of the module, and which rules
// made it that.
#pragma once

#include "core/base/result.h"
#include "core/ir/change_set.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

/// A node that computes (part of) a source node in one version.
struct Place
{
    NodeId node;        ///< in the main function, a body, or a fused function
    std::string op;     ///< operator as people know it; of a call that has no row of it, its kernel
    NodeId call;        ///< of the fused function around it; invalid: it stands alone
    std::string kernel; ///< name of that function or kernel
    int number = 0;     ///< of that call among those of the main function, from 1; 0: in a body
    int row = 0;        ///< of the node among what the call computes, from 1
    int rows = 0;
    bool isOnConstants = false; ///< it computes from constants alone, once and for all
    bool isConstant = false;    ///< the value is in the program, nothing computes it any more
};

/// "row 1 of kernel 5"; "nn.conv2d" for a node that stands alone.
std::string placeText(const Place& place);

/// Of one version, by source node; built once.
class Whereabouts
{
public:
    explicit Whereabouts(const Module& module);
    /// Of that source node only.
    Whereabouts(const Module& module, SourceId source);
    /// In program order: what computes it, then views of it, then constants that hold it.
    const std::vector<Place>& of(SourceId source) const;

private:
    void read(const Module& module, SourceId only);
    std::vector<std::vector<Place>> m_places; ///< by source
};

/// "rows 1, 2 of kernel 5; row 1 of kernel 6; and 2 more"; "part of a constant"; "gone".
std::string placesText(const std::vector<Place>& places);

/// A pass as far as following needs it.
struct FollowedPass
{
    std::string name;
    bool isChanged = false;
    const std::vector<Change>* changes = nullptr;
    const Module* after = nullptr;
};

struct FollowStep
{
    size_t version = 0;                                     ///< 0: as imported, i: after pass i
    std::string pass;                                       ///< empty for version 0
    std::vector<std::pair<std::string, std::string>> rules; ///< that touched it, with their reasons
    std::vector<Place> places;
};

/// One step for the module as imported and one for every pass that touched the node.
std::vector<FollowStep> follow(const Module& imported, std::span<const FollowedPass> passes,
                               SourceId source);

/// The source node of that name, exactly or, if only one, in any case or as a part; the error names
/// candidates.
Result<SourceId> findSource(const Module& module, std::string_view name);

} // namespace tenon::core
