// SPDX-License-Identifier: GPL-3.0-or-later
// A card has the colour of what its operator's definition says, not of words in its name.
#include "app/engine/engine.h"
#include "compiler/ops/op.h"

#include <QTest>

using namespace tenon;
using views::OpFamily;

class FamiliesTest : public QObject
{
    Q_OBJECT

private slots:
    void everyOperatorHasOne()
    {
        for (const compiler::OpDef* op : compiler::allOps())
            QVERIFY(app::opFamilies().count(std::string(op->name)));
    }

    void namesDoNotMislead()
    {
        views::setOpFamilies(app::opFamilies());
        QCOMPARE(views::familyOfOp("nn.attention"), OpFamily::Dense);
        QCOMPARE(views::familyOfOp("einsum"), OpFamily::Dense);
        QCOMPARE(views::familyOfOp("nn.lstm"), OpFamily::Dense);
        QCOMPARE(views::familyOfOp("any"), OpFamily::Pooling);
        QCOMPARE(views::familyOfOp("cumsum"), OpFamily::Pooling);
        QCOMPARE(views::familyOfOp("topk"), OpFamily::Pooling);
        QCOMPARE(views::familyOfOp("scatter_nd"), OpFamily::Movement);
        QCOMPARE(views::familyOfOp("full"), OpFamily::Movement);
        QCOMPARE(views::familyOfOp("arange"), OpFamily::Movement); // "arg" is not in it
    }

    void kernelsGoByTheirOperators()
    {
        core::Module module;
        core::NodeRecord member;
        member.id = module.ids().nextNode();
        member.op = "nn.lstm";
        core::GraphFunction function;
        function.id = module.ids().nextFunction();
        function.order = {member.id};
        module.setNode(member);
        module.setFunction(function);
        core::NodeRecord call;
        call.kind = core::NodeKind::CallTir;
        call.kernel = "fused_recurrent";
        call.callee = function.id;
        views::setOpFamilies(app::opFamilies());
        QCOMPARE(views::familyOf(module, call), OpFamily::Dense);
        call.callee = {};
        call.kernel = "fused_nn_conv2d_add"; // of a file without its graph
        QCOMPARE(views::familyOf(module, call), OpFamily::Convolution);
    }
};

QTEST_GUILESS_MAIN(FamiliesTest)
#include "families_test.moc"
